// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.BOOL;
import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT8;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import java.util.Set;
import java.util.stream.IntStream;

/** Functions of numbers whose integers have no scales, or keep theirs. */
final class NumberImporters {
    private static final Set<DType> CASTABLE = Set.of(INT8, UINT8, INT16, INT32, UINT32, INT64, FLOAT32, BOOL);

    private NumberImporters() {}

    /** CAST; the types that its options repeat are ignored. */
    static void cast(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        OperandTypes.require(operator, CASTABLE, data);
        OperandTypes.require(operator, CASTABLE, output);
        operator.check();
        operator.finish(new Formulas(operator).cast(operator.value(data), output.dtype()));
    }

    /** NEG; quantized integers are negated as they are (neg.cc), which is right only if the zero points are opposite. */
    static void negative(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        OperandTypes.require(operator, Set.of(FLOAT32, INT8, INT16, INT32, INT64), data, output);
        operator.check();
        boolean isScaled = OperandTypes.isQuantized(data.dtype())
                && data.quantization().isPresent()
                && output.quantization().isPresent();
        if (isScaled) {
            OperandTypes.requireScales(operator, data, output);
            operator.check();
            operator.require(
                    data.quantization().scale(0) == output.quantization().scale(0)
                            && data.quantization().zeroPoint()
                                    == -output.quantization().zeroPoint(),
                    "TensorFlow Lite negates the integers as they are, and from " + text(data) + " to " + text(output)
                            + " that gives another number",
                    "one scale, and zero points that are opposite",
                    "Multiply by -1 in its place, or keep the operator float32");
            operator.check();
        }
        Formulas f = new Formulas(operator);
        Arg value = operator.value(data);
        operator.finish(
                data.dtype().isFloat()
                        ? f.unary(Unary.Kind.NEGATIVE, value)
                        : f.subtract(f.number(0, data.dtype()), value));
    }

    private static String text(TfliteTensor tensor) {
        return "scale " + tensor.quantization().scale(0) + " and zero point "
                + tensor.quantization().zeroPoint();
    }

    /** SIGN of float32 and int32: 1, -1 or 0; 0 for NaN, as in TensorFlow Lite 2.20. */
    static void sign(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        OperandTypes.require(operator, Set.of(FLOAT32, INT32), data, operator.output());
        operator.check();
        Formulas f = new Formulas(operator);
        Arg value = operator.value(data);
        DType dtype = data.dtype();
        Arg zero = f.number(0, dtype);
        Arg below = f.where(f.binary(Binary.Kind.LESS, value, zero), f.number(-1, dtype), zero);
        operator.finish(f.where(f.binary(Binary.Kind.GREATER, value, zero), f.number(1, dtype), below));
    }

    /** POW; the reference kernel fails for negative exponents of integers. */
    static void power(OperatorContext operator) {
        TfliteTensor exponent = operator.input(1);
        OperandTypes.require(operator, Set.of(FLOAT32, INT32), operator.input(0), exponent, operator.output());
        operator.check();
        if (exponent.dtype() == INT32 && exponent.isConstant()) {
            Constant exponents = operator.constant(exponent);
            operator.require(
                    IntStream.range(0, exponents.elements()).allMatch(i -> exponents.integer(i) >= 0),
                    "an exponent is negative",
                    "exponents of 0 or more for int32",
                    "Compute the power with floats");
            operator.check();
        }
        binary(operator, Binary.Kind.POWER);
    }

    /** ATAN2 of an ordinate and an abscissa. */
    static void angle(OperatorContext operator) {
        OperandTypes.require(operator, Set.of(FLOAT32), operator.input(0), operator.input(1), operator.output());
        operator.check();
        binary(operator, Binary.Kind.ATAN2);
    }

    /** Functions of the bits of int32 and int64. */
    static void bits(OperatorContext operator, Binary.Kind kind) {
        TfliteTensor data = operator.input(0);
        OperandTypes.require(
                operator, Set.of(INT8, UINT8, INT16, INT32, UINT32), data, operator.input(1), operator.output());
        operator.check();
        Formulas f = new Formulas(operator);
        DType wide = data.dtype() == UINT32 ? INT64 : INT32;
        Arg lhs = f.cast(operator.value(data), wide);
        Arg rhs = f.cast(operator.value(operator.input(1)), wide);
        operator.finish(f.cast(f.binary(kind, lhs, rhs), data.dtype()));
    }

    private static void binary(OperatorContext operator, Binary.Kind kind) {
        operator.finish(new Formulas(operator)
                .binary(kind, operator.value(operator.input(0)), operator.value(operator.input(1))));
    }
}
