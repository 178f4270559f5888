// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith.table;

import static io.kiln.base.FixedPoint.roundingDivideByPot;

import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Quantization;
import io.kiln.ir.arith.FixedPointFunctions;
import io.kiln.ir.arith.InverseSquareRoot;
import java.util.function.DoubleUnaryOperator;
import java.util.function.IntUnaryOperator;

/**
 * Results of TensorFlow Lite Micro's reference kernels for each int8 value: new tables of 256 elements, by {@code value
 * + 128}.
 */
public final class TflActivations {
    private static final int SIZE = 256;
    private static final int LEAST = Byte.MIN_VALUE;
    private static final int MOST = Byte.MAX_VALUE;

    /** Integer bits of the argument of the logistic function and the hyperbolic tangent. */
    private static final int INTEGER_BITS = 4;

    private static final int FRACTION_BITS = 31 - INTEGER_BITS;

    /** Fraction bits that keep inverse square roots integers. */
    private static final int ROOT_SHIFT = 20;

    private TflActivations() {}

    /** {@code 1 / (1 + exp(-x))} with a scale of 1/256 and a zero point of -128 (integer_ops/logistic.h). */
    public static int[] logistic(Quantization in) {
        return saturating(in, x -> roundingDivideByPot(FixedPointFunctions.logistic(x), 31 - 8) + LEAST);
    }

    /** The hyperbolic tangent with a scale of 1/128 and a zero point of 0 (integer_ops/tanh.h). */
    public static int[] tanh(Quantization in) {
        return saturating(in, x -> roundingDivideByPot(FixedPointFunctions.tanh(x), 31 - 7));
    }

    /** A function on fixed point, with its limits where the argument exceeds the fixed point's range. */
    private static int[] saturating(Quantization in, IntUnaryOperator function) {
        QuantizedMultiplier by = QuantizedMultiplier.of((double) in.scale() * (1 << FRACTION_BITS));
        double largest = ((1 << INTEGER_BITS) - 1) * (double) (1 << FRACTION_BITS);
        int radius = (int) Math.floor(Math.scalb(largest, -by.shift()));
        return table(value -> {
            int x = value - in.zeroPoint();
            if (x <= -radius) {
                return LEAST;
            }
            return x >= radius ? MOST : function.applyAsInt(rescale(x, by));
        });
    }

    /** {@code x < 0 ? exp(x) - 1 : x} in single precision (micro/kernels/elu.cc). */
    public static int[] elu(Quantization in, Quantization out) {
        return real(in, out, x -> x < 0 ? (float) Math.exp(x) - 1.0f : x);
    }

    /** The same in TensorFlow Lite's library, which takes expm1 in single precision (activations.cc: EluPrepare). */
    public static int[] eluOfLite(Quantization in, Quantization out) {
        return real(in, out, x -> x < 0 ? (float) Math.expm1(x) : x);
    }

    /**
     * A function of real numbers in single precision (LUTPopulateInt8 in kernels/internal/common.h). Results beyond 32 bits, which C++ leaves
     * undefined, saturate.
     */
    public static int[] real(Quantization in, Quantization out, DoubleUnaryOperator function) {
        float inverse = 1 / out.scale();
        return table(value -> {
            float x = in.scale() * (value - in.zeroPoint());
            float y = (float) function.applyAsDouble(x);
            long rounded = FixedPoint.roundHalfAway(y * inverse);
            return Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, rounded)) + out.zeroPoint();
        });
    }

    /**
     * The square root, truncated, in single precision (elementwise.cc of LiteRT 2026: SqrtEvalQuantized). Negative numbers, for which the reference
     * kernel fails, give 0.
     */
    public static int[] squareRoot(Quantization in, Quantization out) {
        return table(value -> {
            float x = Math.max(0, in.scale() * (value - in.zeroPoint()));
            return (long) ((float) Math.sqrt(x) / out.scale()) + out.zeroPoint();
        });
    }

    /** {@code x >= 0 ? x : alpha * x}, multipliers in single precision (reference/leaky_relu.h). */
    public static int[] leakyRelu(
            Quantization in, Quantization out, QuantizedMultiplier positive, QuantizedMultiplier negative) {
        return table(value -> {
            int x = value - in.zeroPoint();
            return (long) rescale(x, x >= 0 ? positive : negative) + out.zeroPoint();
        });
    }

    /**
     * The absolute value (elementwise.cc).
     *
     * @param by the quotient of the scales in single precision (SetAbsOutputMultiplier)
     */
    public static int[] abs(Quantization in, Quantization out, QuantizedMultiplier by) {
        return table(value -> (long) rescale(Math.abs(value - in.zeroPoint()), by) + out.zeroPoint());
    }

    /**
     * {@code 1 / sqrt(x)}; root and product of the scales in single precision (elementwise.cc, SetRsqrtOutputMultiplier). The result for 0
     * is the largest value, and so it is for negative numbers, for which the reference kernel fails.
     */
    public static int[] rsqrt(Quantization in, Quantization out) {
        QuantizedMultiplier by = QuantizedMultiplier.of(1 / (double) ((float) Math.sqrt(in.scale()) * out.scale()));
        QuantizedMultiplier down = new QuantizedMultiplier(by.multiplier(), by.shift() - ROOT_SHIFT);
        return table(value -> {
            int x = value - in.zeroPoint();
            if (x <= 0) {
                return MOST;
            }
            QuantizedMultiplier root = InverseSquareRoot.of(x);
            int y = rescale(1, new QuantizedMultiplier(root.multiplier(), root.shift() + ROOT_SHIFT));
            return (long) rescale(y, down) + out.zeroPoint();
        });
    }

    /** The result for a value, before saturation. */
    interface Value {
        long of(int value);
    }

    static int[] table(Value function) {
        int[] table = new int[SIZE];
        for (int i = 0; i < SIZE; i++) {
            table[i] = FixedPoint.clamp(function.of(i + LEAST), LEAST, MOST);
        }
        return table;
    }

    private static int rescale(int value, QuantizedMultiplier by) {
        return FixedPoint.multiplyByQuantizedMultiplier(value, by.multiplier(), by.shift());
    }

    /**
     * {@code x * min(6, max(0, x + 3)) / 6} of int8 in 16 bits, as in TensorFlow Lite's reference kernel
     * (reference/hard_swish.h, parameters from hard_swish_common.cc).
     */
    public static final class TflHardSwish {
        /** The scale on which 3 is one step more than the largest int16. */
        private static final float SLOPE_SCALE = 3.0f / 32768.0f;

        private static final float FINER = 1.0f / 128.0f;
        private static final int FINER_SHIFT = 7;
        private static final int MOST_SHIFT = 15;

        private final Quantization in;
        private final Quantization out;
        private final QuantizedMultiplier output;
        private final QuantizedMultiplier slope;

        private TflHardSwish(Quantization in, Quantization out) {
            this.in = in;
            this.out = out;
            float finer = FINER * in.scale();
            this.output = QuantizedMultiplier.of(finer / out.scale());
            this.slope = QuantizedMultiplier.of(finer / SLOPE_SCALE);
        }

        /**
         * The results by {@code value + 128}, as a new array.
         *
         * @throws IllegalArgumentException if the scales are too far apart for 16 bits
         */
        public static int[] table(Quantization in, Quantization out) {
            TflHardSwish function = new TflHardSwish(in, out);
            if (function.output.shift() > 0
                    || function.output.shift() < -MOST_SHIFT
                    || Math.abs(function.slope.shift()) > MOST_SHIFT) {
                throw new IllegalArgumentException("hard swish from scale " + in.scale() + " to scale " + out.scale()
                        + " has no fixed-point form");
            }
            return TflActivations.table(function::apply);
        }

        private long apply(int value) {
            int x = (value - in.zeroPoint()) << FINER_SHIFT;
            int scaled = highMul(x, upperHalf(output));
            int factor = x;
            if (slope.shift() > 0) {
                factor = saturate((long) factor << (slope.shift() - 1));
            }
            factor = highMul(factor, upperHalf(slope));
            if (slope.shift() > 0) {
                factor = saturate((long) factor << 1);
            }
            if (slope.shift() < 0) {
                factor = FixedPoint.roundingDivideByPot(factor, -slope.shift());
            }
            factor = (factor + (1 << 15)) >> 1;
            // Towards zero, unlike the other products.
            int product = factor * scaled / (1 << 15);
            return (short) (FixedPoint.roundingDivideByPot(product, -output.shift()) + out.zeroPoint());
        }

        private static int upperHalf(QuantizedMultiplier by) {
            return by.multiplier() >= Integer.MAX_VALUE - (1 << 15)
                    ? Short.MAX_VALUE
                    : (by.multiplier() + (1 << 15)) >> 16;
        }

        /** The rounding doubling high multiply of 16 bits. */
        private static int highMul(int a, int b) {
            return a == Short.MIN_VALUE && b == Short.MIN_VALUE ? Short.MAX_VALUE : (a * b + (1 << 14)) >> 15;
        }

        private static int saturate(long value) {
            return FixedPoint.clamp(value, Short.MIN_VALUE, Short.MAX_VALUE);
        }
    }
}
