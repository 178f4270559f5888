// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.BOOL;
import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.builtinOfBytes;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions;
import io.kiln.frontend.tflite.schema.OperatorOptions.Gelu;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.arith.ErrorFunction;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.arith.InterpolatedTable;
import io.kiln.ir.arith.TflSigmoid;
import io.kiln.ir.arith.table.TflActivations;
import io.kiln.ir.arith.table.TflActivations.TflHardSwish;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Lookups.TflLookup;
import io.kiln.ir.op.element.Lookups.TflLookup16;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

/** Functions of one tensor: activations, roots, exponentials and logarithms; those of int8 and int16 mostly by tables. */
public final class UnaryImporters {
    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.SQRT, 2, FunctionImporter::squareRoot),
            builtin(BuiltinOperator.EXP, 2, FunctionImporter.EXP),
            builtin(BuiltinOperator.LOG, 2, FunctionImporter.LOG),
            builtin(BuiltinOperator.RSQRT, 3, FunctionImporter.RSQRT),
            builtinOfBytes(BuiltinOperator.GELU, 2, FunctionImporter::gelu),
            builtin(BuiltinOperator.SIN, 1, operator -> plain(operator, Unary.Kind.SIN, FLOAT32)),
            builtin(BuiltinOperator.COS, 1, operator -> plain(operator, Unary.Kind.COS, FLOAT32)),
            builtin(BuiltinOperator.CEIL, 1, operator -> plain(operator, Unary.Kind.CEIL, FLOAT32)),
            builtin(BuiltinOperator.FLOOR, 1, operator -> plain(operator, Unary.Kind.FLOOR, FLOAT32)),
            builtin(BuiltinOperator.ROUND, 1, operator -> plain(operator, Unary.Kind.ROUND, FLOAT32)),
            builtin(BuiltinOperator.LOGICAL_NOT, 1, operator -> plain(operator, Unary.Kind.LOGICAL_NOT, BOOL)),
            builtin(BuiltinOperator.SQUARE, 1, UnaryImporters::square),
            builtinOfBytes(BuiltinOperator.RELU, 3, new ReluImporter(Activation.RELU)),
            builtinOfBytes(BuiltinOperator.RELU6, 3, new ReluImporter(Activation.RELU6)),
            builtinOfBytes(BuiltinOperator.RELU_N1_TO_1, 2, new ReluImporter(Activation.RELU_N1_TO_1)),
            builtinOfBytes(BuiltinOperator.RELU_0_TO_1, 2, new ReluImporter(Activation.RELU_0_TO_1)),
            builtinOfBytes(BuiltinOperator.LEAKY_RELU, 2, UnaryImporters::leakyRelu),
            builtin(BuiltinOperator.ABS, 5, UnaryImporters::abs),
            builtinOfBytes(BuiltinOperator.LOGISTIC, 3, new SigmoidImporter(TflSigmoid16.Kind.LOGISTIC)),
            builtinOfBytes(BuiltinOperator.TANH, 3, new SigmoidImporter(TflSigmoid16.Kind.TANH)),
            builtin(BuiltinOperator.ELU, 1, TableImporter.ELU),
            builtinOfBytes(BuiltinOperator.HARD_SWISH, 1, TableImporter.HARD_SWISH));

    private UnaryImporters() {}

    /** Looks up a function of int8. */
    public static Arg lookup(OperatorContext operator, TfliteTensor data, int[] answers) {
        operator.spend(answers.length);
        byte[] bytes = new byte[answers.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) answers[i];
        }
        return operator.emit(new TflLookup(), operator.value(data), operator.bytes(bytes, Shape.of(answers.length)));
    }

    /** A function of one type of elements. */
    private static void plain(OperatorContext operator, Unary.Kind kind, DType dtype) {
        TfliteTensor data = operator.input(0);
        operator.checkTypes(Set.of(dtype), data, operator.output());
        operator.finish(new Unary(kind), operator.value(data));
    }

    /** SQUARE of float32: the product of the tensor with itself. */
    private static void square(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        operator.checkTypes(Set.of(FLOAT32), data, operator.output());
        Arg value = operator.value(data);
        operator.finish(operator.multiply(value, value));
    }

    /** RELU, RELU6, RELU_N1_TO_1 and RELU_0_TO_1; those of integers rescale to the output and clamp there (QuantizedReluX in activations.cc). */
    private record ReluImporter(Activation activation) implements OperatorImporter {
        private static final int LAST_AXIS = -1;

        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            TfliteTensor output = operator.output();
            operator.checkTypes(Set.of(FLOAT32, INT8, INT16), data, output);
            if (!data.dtype().isFloat()) {
                operator.requireScales(data, output);
                operator.requireSymmetric(data, output);
                operator.check();
            }
            Arg value = operator.value(data);
            operator.finish(activation.apply(operator, rescales(data, output) ? rescaled(operator, value) : value));
        }

        private static boolean rescales(TfliteTensor data, TfliteTensor output) {
            return !data.dtype().isFloat() && !data.affine().equals(output.affine());
        }

        /** The quotient of the scales is in single precision (ReluPrepare). */
        private static Arg rescaled(OperatorContext operator, Arg value) {
            TfliteTensor data = operator.input(0);
            float multiplier = Requantizing.quotient(data, operator.output());
            return Requantizing.rescale(
                    operator, value, LAST_AXIS, data.quantization().zeroPoint(), 1, index -> multiplier);
        }
    }

    /** LEAKY_RELU; multipliers in single precision (leaky_relu_common.cc). */
    private static void leakyRelu(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        float alpha = operator.requiredOptions(OperatorOptions.LeakyRelu.TYPE).get(OperatorOptions.LeakyRelu.ALPHA);
        operator.requireTypes(Set.of(FLOAT32, INT8, INT16), data, output);
        operator.requireThat(Float.isFinite(alpha), "alpha is " + alpha, "a finite number");
        if (data.dtype().isFloat()) {
            operator.finish(new LeakyRelu(alpha), operator.value(data));
            return;
        }
        operator.checkScales(data, output);
        float in = data.quantization().scale(0);
        float out = output.quantization().scale(0);
        QuantizedMultiplier positive = Requantizing.boundedMultiplier(operator, in / out);
        QuantizedMultiplier negative = Requantizing.boundedMultiplier(operator, in * alpha / out);
        operator.finish(
                data.dtype() == DType.INT8
                        ? lookup(
                                operator,
                                data,
                                TflActivations.leakyRelu(data.affine(), output.affine(), positive, negative))
                        : operator.emit(
                                new TflLeakyRelu(
                                        data.quantization().zeroPoint(),
                                        output.quantization().zeroPoint(),
                                        positive,
                                        negative),
                                operator.value(data)));
    }

    /** ABS; that of int32 wraps around, and int16 may be quantized or not (micro/kernels/elementwise.cc). */
    private static void abs(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        operator.checkTypes(Set.of(FLOAT32, INT8, INT16, INT32), data, output);
        if (data.dtype() == INT32) {
            Formulas f = operator;
            Arg value = operator.value(data);
            operator.finish(f.maximum(value, f.subtract(f.number(0, INT32), value)));
            return;
        }
        boolean plain = data.dtype() == DType.INT16 && !data.quantization().isPresent();
        if (data.dtype().isFloat() || plain) {
            operator.finish(new Unary(Unary.Kind.ABS), operator.value(data));
            return;
        }
        operator.requireScales(data, output);
        operator.requireSymmetric(data, output);
        operator.check();
        QuantizedMultiplier by = Requantizing.boundedMultiplier(operator, Requantizing.quotient(data, output));
        operator.finish(
                data.dtype() == DType.INT8
                        ? lookup(operator, data, TflActivations.abs(data.affine(), output.affine(), by))
                        : absOfInt16(operator, data, by));
    }

    /** LEAKY_RELU's arithmetic with a second slope of the opposite sign. */
    private static Arg absOfInt16(OperatorContext operator, TfliteTensor data, QuantizedMultiplier by) {
        QuantizedMultiplier mirrored = new QuantizedMultiplier(-by.multiplier(), by.shift());
        return operator.emit(new TflLeakyRelu(0, 0, by, mirrored), operator.value(data));
    }

    /** LOGISTIC and TANH (logistic_common.cc, micro/kernels/tanh.cc). */
    private record SigmoidImporter(TflSigmoid16.Kind kind) implements OperatorImporter {
        private static final float LEAST_SCALE = 1f / (1 << 30);
        private static final float MOST_SCALE = 2;

        /** A step of this size needs no multiplier beyond the table's. */
        private static final int POWER_OF_STEP = -12;

        private static final float STEPS_OF_ONE = 3 * 4096;

        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            TfliteTensor output = operator.output();
            operator.checkTypes(Set.of(FLOAT32, INT8, INT16), data, output);
            boolean logistic = kind == TflSigmoid16.Kind.LOGISTIC;
            if (data.dtype().isFloat()) {
                Unary op = new Unary(logistic ? Unary.Kind.SIGMOID : Unary.Kind.TANH);
                operator.finish(op, operator.value(data));
                return;
            }
            operator.requireScales(data, output);
            operator.requireSymmetric(data);
            operator.check();
            float scale = data.dtype() == DType.INT16 ? 1f / (1 << 15) : logistic ? 1f / 256 : 1f / 128;
            int zeroPoint = data.dtype() == DType.INT8 && logistic ? Byte.MIN_VALUE : 0;
            operator.requireFixed(output, scale, zeroPoint);
            operator.requireThat(
                    data.quantization().scale(0) >= LEAST_SCALE
                            && data.quantization().scale(0) < MOST_SCALE,
                    "`" + data.name() + "` has scale " + data.quantization().scale(0),
                    "a scale from 2^-30 to 2",
                    "Quantize the model again");
            operator.finish(data.dtype() == DType.INT16 ? wide(operator, data) : narrow(operator, data));
        }

        private Arg narrow(OperatorContext operator, TfliteTensor data) {
            Quantization in = data.affine();
            return lookup(
                    operator,
                    data,
                    kind == TflSigmoid16.Kind.LOGISTIC ? TflActivations.logistic(in) : TflActivations.tanh(in));
        }

        private Arg wide(OperatorContext operator, TfliteTensor data) {
            float scale = data.quantization().scale(0);
            float log2 = TflSigmoid.log2(scale);
            float power = FixedPoint.roundHalfAway(log2);
            int left = (int) power - POWER_OF_STEP;
            boolean powerOfTwo = Math.abs(log2 - power) < 1e-3f;
            if (powerOfTwo && (left == 0 || (left == 1 && kind == TflSigmoid16.Kind.TANH))) {
                return operator.emit(new TflSigmoid16(kind, 3 << left, 0), operator.value(data));
            }
            double multiplier = scale * (double) STEPS_OF_ONE;
            int shift = 0;
            while (multiplier <= Short.MAX_VALUE / 2.0) {
                multiplier *= 2;
                shift++;
            }
            return operator.emit(new TflSigmoid16(kind, (int) multiplier, shift), operator.value(data));
        }
    }

    /**
     * Functions of float32, and of int8 and int16 by tables of their values (LUTPopulate in kernels/internal/common.h).
     *
     * @param floats the function of float32
     * @param real the function of a number in single precision
     * @param bytes the table of int8, where it is not that of the function
     */
    private record FunctionImporter(
            BiFunction<Formulas, Arg, Arg> floats, Real real, Optional<TableImporter.Table> bytes)
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

        static final FunctionImporter EXP = of((f, x) -> f.exp(x), (x, least, most) -> Math.exp(x));

        /** The logarithm of numbers that have none is the smallest output. */
        static final FunctionImporter LOG = of((f, x) -> f.log(x), (x, least, most) -> x <= 0 ? least : Math.log(x));

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
            BiFunction<Formulas, Arg, Arg> root = (f, x) -> f.sqrt(x);
            if (data.dtype() != INT16) {
                new FunctionImporter(root, (x, least, most) -> Math.sqrt(x), Optional.of(TflActivations::squareRoot))
                        .emit(operator);
                return;
            }
            requireQuantized(operator, data);
            Formulas f = operator;
            Arg real = f.multiply(
                    f.cast(operator.value(data), FLOAT32), data.quantization().scale(0));
            float outputScale = operator.output().quantization().scale(0);
            Arg steps = f.divide(root.apply(f, real), f.real(outputScale));
            Arg whole = f.cast(steps, DType.INT32);
            operator.finish(f.cast(f.clip(whole, 0, Short.MAX_VALUE), INT16));
        }

        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            if (data.dtype().isFloat()) {
                operator.checkTypes(Set.of(FLOAT32), data, operator.output());
                operator.finish(floats.apply(operator, operator.value(data)));
                return;
            }
            requireQuantized(operator, data);
            Quantization in = data.affine();
            Quantization out = operator.output().affine();
            operator.finish(
                    data.dtype() == INT8 ? ofBytes(operator, data, in, out) : ofShorts(operator, data, in, out));
        }

        private static void requireQuantized(OperatorContext operator, TfliteTensor data) {
            operator.checkTypes(Set.of(FLOAT32, INT8, INT16), data, operator.output());
            operator.requireScales(data, operator.output());
            operator.requireSymmetric(data, operator.output());
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
            return lookup(operator, data, answers);
        }

        private Arg ofShorts(OperatorContext operator, TfliteTensor data, Quantization in, Quantization out) {
            operator.spend(Short.BYTES * InterpolatedTable.SIZE);
            float least = out.scale() * Short.MIN_VALUE;
            float most = out.scale() * Short.MAX_VALUE;
            int[] table = InterpolatedTable.of(FloatPrecision.SINGLE, in.scale(), in.zeroPoint(), out.scale(), x ->
                    (float) real.of((float) x, least, most));
            Constant samples = operator.shorts(table);
            return operator.emit(new TflLookup16(), List.of(operator.value(data), samples));
        }
    }

    /**
     * Functions of float32, and of int8 by a table.
     *
     * @param kind the function for float32
     * @param table the result for each int8 of TensorFlow Lite Micro's reference kernel
     * @param ofLite that of TensorFlow Lite's
     */
    private record TableImporter(Unary.Kind kind, Table table, Table ofLite) implements OperatorImporter {
        static final TableImporter ELU =
                new TableImporter(Unary.Kind.ELU, TflActivations::elu, TflActivations::eluOfLite);
        static final TableImporter HARD_SWISH =
                new TableImporter(Unary.Kind.HARD_SWISH, TflHardSwish::table, TflHardSwish::table);

        /** Makes a table for given quantizations of input and output. */
        interface Table {
            /**
             * The results by {@code value + 128}.
             *
             * @throws IllegalArgumentException with a message for users if there is no table
             */
            int[] of(Quantization in, Quantization out);
        }

        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            TfliteTensor output = operator.output();
            operator.checkTypes(Set.of(FLOAT32, INT8), data, output);
            if (data.dtype().isFloat()) {
                operator.finish(new Unary(kind), operator.value(data));
                return;
            }
            operator.checkScales(data, output);
            int[] answers;
            try {
                answers = (operator.followsLite() ? ofLite : table).of(data.affine(), output.affine());
            } catch (IllegalArgumentException e) {
                throw operator.failure(e.getMessage(), "scales of ordinary size");
            }
            operator.finish(lookup(operator, data, answers));
        }
    }
}
