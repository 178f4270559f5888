// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.Field;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.OptionsType;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.TflBinaryScales;
import java.util.Optional;
import java.util.Set;

/**
 * Functions of two tensors with broadcasting; either may be constant.
 *
 * @param kind the function for elements that are not quantized
 * @param dtypes types supported by the reference kernel
 * @param fused the options field of the fused activation; empty for an operator without one
 */
record BinaryImporter(Binary.Kind kind, Set<DType> dtypes, Optional<Fused> fused) implements OperatorImporter {
    /** The field of an activation in an options table. */
    record Fused(OptionsType options, Field.UByte activation) {}

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor lhs = operator.input(0);
        TfliteTensor rhs = operator.input(1);
        TfliteTensor output = operator.output();
        Activation activation = activation(operator);
        OperandTypes.require(operator, dtypes, lhs, rhs, output);
        operator.check();
        requireActivation(operator, activation, lhs.dtype());
        Optional<Op> quantized = OperandTypes.isQuantized(lhs.dtype()) ? quantized(operator) : Optional.empty();
        if (quantized.isPresent()) {
            requireScales(operator, quantized.get(), lhs, rhs, output);
        }
        operator.check();
        Arg value = quantized
                .map(op -> emit(operator, op, lhs, rhs, output))
                .orElseGet(() -> operator.emit(new Binary(kind), operator.value(lhs), operator.value(rhs)));
        operator.finish(activation.apply(operator, value));
    }

    private Activation activation(OperatorContext operator) {
        return fused.map(f -> Activation.read(
                        operator,
                        operator.options(f.options)
                                .map(o -> o.get(f.activation))
                                .orElse(0)))
                .orElse(Activation.NONE);
    }

    /** TensorFlow Lite Micro's sum of int32 ignores its activation; TensorFlow Lite's does not. */
    private void requireActivation(OperatorContext operator, Activation activation, DType dtype) {
        boolean without = dtype == DType.INT64 || (dtype == DType.INT32 && kind == Binary.Kind.ADD);
        operator.require(
                !without || activation == Activation.NONE,
                "fused activation " + activation + " of " + dtype.text() + " is not supported",
                "NONE",
                "Put the activation behind the operator");
    }

    /** Minimum and maximum do not depend on the scale. */
    private Optional<Op> quantized(OperatorContext operator) {
        return switch (kind) {
            case ADD -> Optional.of(new QnnAdd());
            case SUBTRACT -> Optional.of(OperandTypes.binary(operator, QnnBinary.Kind.SUBTRACT));
            case MULTIPLY -> Optional.of(OperandTypes.binary(operator, QnnBinary.Kind.MULTIPLY));
            case DIVIDE -> Optional.of(new QnnBinary(QnnBinary.Kind.DIVIDE));
            case SQUARED_DIFFERENCE -> Optional.of(new QnnBinary(QnnBinary.Kind.SQUARED_DIFFERENCE));
            default -> Optional.empty();
        };
    }

    private void requireScales(
            OperatorContext operator, Op op, TfliteTensor lhs, TfliteTensor rhs, TfliteTensor output) {
        OperandTypes.requireScales(operator, lhs, rhs, output);
        if (kind != Binary.Kind.ADD) {
            OperandTypes.requireSymmetric(operator, lhs, rhs, output);
        }
        operator.check();
        float left = lhs.quantization().scale(0);
        float right = rhs.quantization().scale(0);
        float out = output.quantization().scale(0);
        boolean defined = op instanceof QnnBinary binary
                ? TflBinaryScales.areDefined(binary, lhs.dtype(), left, right, out)
                : TflAddParameters.of(lhs.dtype(), left, right, out).isBelowOne();
        operator.require(
                defined,
                "the scales " + left + ", " + right + " and " + out + " are too far apart",
                "scales that the reference kernel's fixed point can represent",
                "Quantize the model again");
    }

    private static Arg emit(OperatorContext operator, Op op, TfliteTensor lhs, TfliteTensor rhs, TfliteTensor output) {
        return operator.emit(
                op,
                operator.value(lhs),
                operator.value(rhs),
                OperandTypes.scale(lhs),
                OperandTypes.zeroPoint(lhs),
                OperandTypes.scale(rhs),
                OperandTypes.zeroPoint(rhs),
                OperandTypes.scale(output),
                OperandTypes.zeroPoint(output));
    }
}
