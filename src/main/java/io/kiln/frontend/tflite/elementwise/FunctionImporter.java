// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.ElementwiseOptions.Gelu;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.arith.ErrorFunction;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.arith.InterpolatedTable;
import io.kiln.ir.arith.table.TflActivations;
import io.kiln.ir.op.element.TflLookup16;
import io.kiln.ir.op.element.Unary;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * Functions of float32, and of int8 and int16 by tables of their values (LUTPopulate in kernels/internal/common.h).
 *
 * @param floats the function of float32
 * @param real the function of a number in single precision
 * @param bytes the table of int8, where it is not that of the function
 */
record FunctionImporter(BiFunction<Formulas, Arg, Arg> floats, Real real, Optional<TableImporter.Table> bytes)
        implements OperatorImporter {
    private static final float ROOT_OF_HALF = (float) Math.sqrt(0.5);
    private static final float ROOT_OF_TWO_BY_PI = (float) Math.sqrt(2 / Math.PI);
    private static final float CUBIC = 0.044715f;

    /** A function of real numbers. */
    interface Real {
        /**
         * The result for a number, which need not be rounded to single precision.
         *
         * @param least the smallest number that the output represents
         * @param most the largest one
         */
        double of(float x, float least, float most);
    }

    static final FunctionImporter EXP = of((f, x) -> f.unary(Unary.Kind.EXP, x), (x, least, most) -> Math.exp(x));

    /** The logarithm of numbers that have none is the smallest output. */
    static final FunctionImporter LOG =
            of((f, x) -> f.unary(Unary.Kind.LOG, x), (x, least, most) -> x <= 0 ? least : Math.log(x));

    /** The inverse root of numbers that have none is the largest output. */
    static final FunctionImporter RSQRT = new FunctionImporter(
            (f, x) -> f.unary(Unary.Kind.RSQRT, x),
            (x, least, most) -> x <= 0 ? most : 1 / (float) Math.sqrt(x),
            Optional.of(TflActivations::rsqrt));

    /** {@code x * erfc(-x / sqrt(2)) / 2} (reference/gelu.h). */
    private static final FunctionImporter GELU = of(
            (f, x) -> f.multiply(f.multiply(x, 0.5), f.unary(Unary.Kind.ERFC, f.multiply(x, -ROOT_OF_HALF))),
            (x, least, most) -> 0.5f * x * (float) ErrorFunction.complementOf(x * -ROOT_OF_HALF));

    /** {@code x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2}. */
    private static final FunctionImporter GELU_BY_TANH = of(
            (f, x) -> {
                Arg cube = f.multiply(f.multiply(f.multiply(x, CUBIC), x), x);
                Arg curve = f.unary(Unary.Kind.TANH, f.multiply(f.add(x, cube), ROOT_OF_TWO_BY_PI));
                return f.multiply(f.multiply(x, 0.5), f.add(curve, 1));
            },
            (x, least, most) -> {
                float argument = ROOT_OF_TWO_BY_PI * (x + CUBIC * x * x * x);
                return 0.5f * x * (1 + (float) Math.tanh(argument));
            });

    private static FunctionImporter of(BiFunction<Formulas, Arg, Arg> floats, Real real) {
        return new FunctionImporter(floats, real, Optional.empty());
    }

    /** GELU in the form that its option chooses. */
    static void gelu(OperatorContext operator) {
        boolean isApproximate = operator.options(Gelu.TYPE)
                .map(options -> options.get(Gelu.APPROXIMATE))
                .orElse(false);
        (isApproximate ? GELU_BY_TANH : GELU).emit(operator);
    }

    /** SQRT; that of int16 has no table and is computed with floats. */
    static void squareRoot(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        BiFunction<Formulas, Arg, Arg> root = (f, x) -> f.unary(Unary.Kind.SQRT, x);
        if (data.dtype() != INT16) {
            new FunctionImporter(root, (x, least, most) -> Math.sqrt(x), Optional.of(TflActivations::squareRoot))
                    .emit(operator);
            return;
        }
        requireQuantized(operator, data);
        Formulas f = new Formulas(operator);
        Arg real = f.multiply(
                f.cast(operator.value(data), FLOAT32), data.quantization().scale(0));
        float outputScale = operator.output().quantization().scale(0);
        Arg steps = f.divide(root.apply(f, real), f.number(outputScale, FLOAT32));
        Arg whole = f.cast(steps, DType.INT32);
        operator.finish(f.cast(f.clip(whole, 0, Short.MAX_VALUE), INT16));
    }

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        if (data.dtype().isFloat()) {
            OperandTypes.require(operator, Set.of(FLOAT32), data, operator.output());
            operator.check();
            operator.finish(floats.apply(new Formulas(operator), operator.value(data)));
            return;
        }
        requireQuantized(operator, data);
        Quantization in = OperandTypes.quantization(data);
        Quantization out = OperandTypes.quantization(operator.output());
        operator.finish(data.dtype() == INT8 ? ofBytes(operator, data, in, out) : ofShorts(operator, data, in, out));
    }

    private static void requireQuantized(OperatorContext operator, TfliteTensor data) {
        OperandTypes.require(operator, Set.of(FLOAT32, INT8, INT16), data, operator.output());
        operator.check();
        OperandTypes.requireScales(operator, data, operator.output());
        OperandTypes.requireSymmetric(operator, data, operator.output());
        operator.check();
    }

    private Arg ofBytes(OperatorContext operator, TfliteTensor data, Quantization in, Quantization out) {
        float least = out.scale() * (Byte.MIN_VALUE - out.zeroPoint());
        float most = out.scale() * (Byte.MAX_VALUE - out.zeroPoint());
        int[] answers;
        try {
            answers = bytes.map(table -> table.of(in, out))
                    .orElseGet(() -> TflActivations.real(in, out, x -> real.of((float) x, least, most)));
        } catch (IllegalArgumentException e) {
            throw operator.failure(e.getMessage(), "scales of ordinary size");
        }
        return TableImporter.lookup(operator, data, answers);
    }

    private Arg ofShorts(OperatorContext operator, TfliteTensor data, Quantization in, Quantization out) {
        operator.spend(Short.BYTES * InterpolatedTable.SIZE);
        float least = out.scale() * Short.MIN_VALUE;
        float most = out.scale() * Short.MAX_VALUE;
        int[] table = InterpolatedTable.of(FloatPrecision.SINGLE, in.scale(), in.zeroPoint(), out.scale(), x ->
                (float) real.of((float) x, least, most));
        Constant samples = new Formulas(operator).shorts(table);
        return operator.emit(new TflLookup16(), List.of(operator.value(data), samples));
    }
}
