// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.BOOL;
import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;
import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.builtinOfBytes;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.Field;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.Add;
import io.kiln.frontend.tflite.schema.OperatorOptions.Div;
import io.kiln.frontend.tflite.schema.OperatorOptions.Mul;
import io.kiln.frontend.tflite.schema.OperatorOptions.OptionsType;
import io.kiln.frontend.tflite.schema.OperatorOptions.Sub;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.frontend.tflite.tensor.TfliteTensor.TensorQuantization;
import io.kiln.ir.Arg;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.QnnBinary.TflBinaryScales;
import io.kiln.ir.op.element.TflAddN;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** Functions and comparisons of two tensors or more, with the element types supported by TensorFlow Lite Micro's reference kernels. */
public final class BinaryImporters {
    private static final Set<DType> QUANTIZABLE = Set.of(FLOAT32, INT8, INT16, INT32);
    private static final Set<DType> NUMBERS = Set.of(FLOAT32, INT8, INT16, INT32, INT64);
    private static final Set<DType> ORDERED = Set.of(FLOAT32, INT8, INT32, INT64);
    private static final Set<DType> EQUATABLE = Set.of(FLOAT32, INT8, INT32, INT64, BOOL);

    public static final List<Registration> ALL = List.of(
            fused(BuiltinOperator.ADD, 5, Binary.Kind.ADD, NUMBERS, Add.TYPE, Add.FUSED_ACTIVATION_FUNCTION),
            fused(BuiltinOperator.SUB, 5, Binary.Kind.SUBTRACT, QUANTIZABLE, Sub.TYPE, Sub.FUSED_ACTIVATION_FUNCTION),
            fused(BuiltinOperator.MUL, 8, Binary.Kind.MULTIPLY, QUANTIZABLE, Mul.TYPE, Mul.FUSED_ACTIVATION_FUNCTION),
            fused(
                    BuiltinOperator.DIV,
                    3,
                    Binary.Kind.DIVIDE,
                    Set.of(FLOAT32, INT8, INT32),
                    Div.TYPE,
                    Div.FUSED_ACTIVATION_FUNCTION),
            binary(BuiltinOperator.SQUARED_DIFFERENCE, 3, Binary.Kind.SQUARED_DIFFERENCE, QUANTIZABLE),
            binary(BuiltinOperator.FLOOR_DIV, 3, Binary.Kind.FLOOR_DIVIDE, Set.of(FLOAT32)),
            binary(BuiltinOperator.FLOOR_MOD, 2, Binary.Kind.FLOOR_MOD, Set.of(FLOAT32)),
            binary(BuiltinOperator.LOGICAL_AND, 1, Binary.Kind.LOGICAL_AND, Set.of(BOOL)),
            binary(BuiltinOperator.LOGICAL_OR, 1, Binary.Kind.LOGICAL_OR, Set.of(BOOL)),
            binary(BuiltinOperator.MAXIMUM, 5, Binary.Kind.MAXIMUM, NUMBERS).uint8AsInt8(),
            binary(BuiltinOperator.MINIMUM, 5, Binary.Kind.MINIMUM, NUMBERS).uint8AsInt8(),
            builtinOfBytes(BuiltinOperator.PRELU, 2, BinaryImporters::prelu),
            builtin(BuiltinOperator.ADD_N, 1, BinaryImporters::addN),
            comparison(BuiltinOperator.EQUAL, 4, Binary.Kind.EQUAL, QnnBinary.Kind.EQUAL, EQUATABLE),
            comparison(BuiltinOperator.NOT_EQUAL, 3, Binary.Kind.NOT_EQUAL, QnnBinary.Kind.NOT_EQUAL, EQUATABLE),
            comparison(BuiltinOperator.LESS, 3, Binary.Kind.LESS, QnnBinary.Kind.LESS, ORDERED),
            comparison(BuiltinOperator.LESS_EQUAL, 2, Binary.Kind.LESS_EQUAL, QnnBinary.Kind.LESS_EQUAL, ORDERED),
            comparison(BuiltinOperator.GREATER, 2, Binary.Kind.GREATER, QnnBinary.Kind.GREATER, NUMBERS),
            comparison(
                    BuiltinOperator.GREATER_EQUAL, 3, Binary.Kind.GREATER_EQUAL, QnnBinary.Kind.GREATER_EQUAL, ORDERED),
            builtinOfBytes(BuiltinOperator.SELECT, 3, new SelectImporter(true)),
            builtinOfBytes(BuiltinOperator.SELECT_V2, 2, new SelectImporter(false)));

    private BinaryImporters() {}

    private static Registration binary(BuiltinOperator operator, int maxVersion, Binary.Kind kind, Set<DType> dtypes) {
        return builtin(operator, maxVersion, new BinaryImporter(kind, dtypes, Optional.empty()));
    }

    /** An operator with a fused activation in its options. */
    private static Registration fused(
            BuiltinOperator operator,
            int maxVersion,
            Binary.Kind kind,
            Set<DType> dtypes,
            OptionsType options,
            Field.UByte activation) {
        BinaryImporter.Fused fused = new BinaryImporter.Fused(options, activation);
        return builtinOfBytes(operator, maxVersion, new BinaryImporter(kind, dtypes, Optional.of(fused)));
    }

    private static Registration comparison(
            BuiltinOperator operator, int maxVersion, Binary.Kind kind, QnnBinary.Kind quantized, Set<DType> dtypes) {
        return builtinOfBytes(operator, maxVersion, new ComparisonImporter(kind, quantized, dtypes));
    }

    /**
     * Functions of two tensors with broadcasting; either may be constant.
     *
     * @param kind the function for elements that are not quantized
     * @param dtypes types supported by the reference kernel
     * @param fused the options field of the fused activation; empty for an operator without one
     */
    private record BinaryImporter(Binary.Kind kind, Set<DType> dtypes, Optional<Fused> fused)
            implements OperatorImporter {
        /** The field of an activation in an options table. */
        record Fused(OptionsType options, Field.UByte activation) {}

        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor lhs = operator.input(0);
            TfliteTensor rhs = operator.input(1);
            TfliteTensor output = operator.output();
            Activation activation = activation(operator);
            operator.checkTypes(dtypes, lhs, rhs, output);
            requireActivation(operator, activation, lhs.dtype());
            Optional<Op> quantized = lhs.hasQuantizedType() ? quantized(operator) : Optional.empty();
            if (quantized.isPresent()) {
                requireScales(operator, quantized.get(), lhs, rhs, output);
            }
            operator.check();
            Arg value = quantized
                    .map(op -> withScales(operator, op, lhs, rhs, output))
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
                case SUBTRACT -> Optional.of(operator.binary(QnnBinary.Kind.SUBTRACT));
                case MULTIPLY -> Optional.of(operator.binary(QnnBinary.Kind.MULTIPLY));
                case DIVIDE -> Optional.of(new QnnBinary(QnnBinary.Kind.DIVIDE));
                case SQUARED_DIFFERENCE -> Optional.of(new QnnBinary(QnnBinary.Kind.SQUARED_DIFFERENCE));
                default -> Optional.empty();
            };
        }

        private void requireScales(
                OperatorContext operator, Op op, TfliteTensor lhs, TfliteTensor rhs, TfliteTensor output) {
            operator.requireScales(lhs, rhs, output);
            if (kind != Binary.Kind.ADD) {
                operator.requireSymmetric(lhs, rhs, output);
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
    }

    /**
     * Comparisons with broadcasting; quantized elements are compared by their real values.
     *
     * @param kind the comparison for elements that are not quantized
     * @param quantized the comparison for quantized elements
     * @param dtypes types supported by the reference kernel
     */
    private record ComparisonImporter(Binary.Kind kind, QnnBinary.Kind quantized, Set<DType> dtypes)
            implements OperatorImporter {
        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor lhs = operator.input(0);
            TfliteTensor rhs = operator.input(1);
            operator.requireTypes(dtypes, lhs, rhs);
            operator.checkTypes(Set.of(DType.BOOL), operator.output());
            if (!lhs.hasQuantizedType()) {
                operator.finish(new Binary(kind), operator.value(lhs), operator.value(rhs));
                return;
            }
            operator.checkScales(lhs, rhs);
            for (TfliteTensor tensor : lhs.index() == rhs.index() ? List.of(lhs) : List.of(lhs, rhs)) {
                operator.require(
                        tensor.quantization().scale(0) < 1,
                        "`" + tensor.name() + "` has scale "
                                + tensor.quantization().scale(0),
                        "a scale below 1, as the reference kernel requires",
                        "Quantize the model again");
            }
            operator.check();
            operator.finish(withScales(operator, new QnnBinary(quantized), lhs, rhs));
        }
    }

    /** PRELU; the slopes of int16 are int8 (prelu_common.cc). */
    private static void prelu(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor slopes = operator.input(1);
        TfliteTensor output = operator.output();
        operator.requireTypes(Set.of(FLOAT32, INT8, INT16), data, output);
        operator.checkTypes(Set.of(data.dtype().isFloat() ? FLOAT32 : INT8), slopes);
        if (data.dtype().isFloat()) {
            operator.finish(new Binary(Binary.Kind.PRELU), operator.value(data), operator.value(slopes));
            return;
        }
        operator.checkScales(data, slopes, output);
        operator.finish(withScales(operator, operator.binary(QnnBinary.Kind.PRELU), data, slopes, output));
    }

    /** An operator of the first two tensors, with the scale and zero point of each. */
    private static Arg withScales(OperatorContext operator, Op op, TfliteTensor... tensors) {
        List<Arg> args = new ArrayList<>(List.of(operator.value(tensors[0]), operator.value(tensors[1])));
        for (TfliteTensor tensor : tensors) {
            args.add(tensor.scale());
            args.add(tensor.zeroPoint());
        }
        return operator.emit(op, args.toArray(Arg[]::new));
    }

    /** ADD_N: a chain of additions for float32, one operator for int8 (micro/kernels/add_n.cc). */
    private static void addN(OperatorContext operator) {
        List<TfliteTensor> inputs = IntStream.range(0, operator.inputCount())
                .mapToObj(operator::input)
                .toList();
        operator.requireThat(inputs.size() >= 2, "it has " + inputs.size() + " inputs", "2 or more", "");
        TfliteTensor first = inputs.get(0);
        operator.requireTypes(Set.of(FLOAT32, INT8), operator.output());
        for (TfliteTensor input : inputs) {
            operator.require(
                    input.type().equals(first.type())
                            && input.dtype() == operator.output().dtype(),
                    input.text() + " does not fit " + first.text(),
                    "tensors of one shape and type");
        }
        operator.check();
        List<Arg> values = inputs.stream().map(operator::value).toList();
        operator.finish(
                first.dtype().isFloat()
                        ? values.stream().reduce((a, b) -> operator.add(a, b)).orElseThrow()
                        : addIntegers(operator, inputs, values));
    }

    private static Arg addIntegers(OperatorContext operator, List<TfliteTensor> inputs, List<Arg> values) {
        inputs.forEach(input -> operator.requireScales(input));
        operator.checkScales(operator.output());
        TensorQuantization in = inputs.get(0).quantization();
        for (TfliteTensor input : inputs) {
            operator.requireEqual(inputs.get(0), input);
        }
        operator.require(
                inputs.size() <= TflAddN.MOST,
                "it has " + inputs.size() + " inputs",
                "at most " + TflAddN.MOST + " of int8, whose sum fits into 32 bits",
                "Add the tensors in several steps");
        TensorQuantization out = operator.output().quantization();
        double real = 2 * (double) in.scale(0) / ((1 << 20) * (double) out.scale(0));
        operator.requireThat(
                real < 1,
                "the scales " + in.scale(0) + " and " + out.scale(0) + " are too far apart",
                "scales that the reference kernel's fixed point can represent",
                "Quantize the model again");
        TflAddN op = new TflAddN(inputs.size(), in.zeroPoint(), out.zeroPoint(), QuantizedMultiplier.of(real));
        return operator.emit(op, values.toArray(Arg[]::new));
    }

    /**
     * SELECT_V2 with broadcasting, and SELECT, whose condition may be a vector along the first dimension.
     *
     * @param first whether it may, as SELECT's
     */
    private record SelectImporter(boolean first) implements OperatorImporter {
        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor condition = operator.input(0);
            TfliteTensor x = operator.input(1);
            TfliteTensor y = operator.input(2);
            operator.requireTypes(Set.of(BOOL), condition);
            operator.checkTypes(Set.of(FLOAT32, INT8, INT16), x, y, operator.output());
            Arg value = operator.value(condition);
            if (first) {
                value = spread(operator, value, condition, x);
                operator.requireThat(
                        x.shape().equals(y.shape()),
                        x.text() + " and " + y.text() + " differ",
                        "one shape for both",
                        "");
            }
            operator.finish(new Where(), value, operator.value(x), operator.value(y));
        }

        private static Arg spread(OperatorContext operator, Arg value, TfliteTensor condition, TfliteTensor x) {
            Shape shape = condition.shape();
            boolean leading = shape.rank() == 1
                    && x.shape().rank() > 1
                    && shape.dim(0) == x.shape().dim(0);
            operator.requireThat(
                    leading || shape.rank() == 0 || shape.equals(x.shape()),
                    "the condition " + condition.text() + " does not fit " + x.text(),
                    "the same shape, a scalar, or a vector for the first dimension",
                    "Use SELECT_V2");
            if (!leading) {
                return value;
            }
            List<Integer> dims = new ArrayList<>(Collections.nCopies(x.shape().rank(), 1));
            dims.set(0, shape.dim(0));
            return operator.emit(new Reshape(new Shape(dims)), value);
        }
    }
}
