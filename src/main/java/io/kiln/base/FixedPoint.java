// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

/**
 * TensorFlow Lite's fixed-point arithmetic, defined once for Java (tensorflow/lite/kernels/internal/common.h and
 * quantization_util.cc; gemmlowp/fixedpoint). It rounds twice: in the high multiply and in the shift. TVM rounds once.
 */
public final class FixedPoint {
    private FixedPoint() {}

    /**
     * A real multiplier as {@code multiplier * 2^(shift - 31)}.
     *
     * @param multiplier Q31 mantissa, 0 or in [2^30, 2^31)
     * @param shift power of two, positive to the left
     */
    public record QuantizedMultiplier(int multiplier, int shift) {
        /**
         * Quantizes a real multiplier (QuantizeMultiplier). Below 2^-32 it becomes 0; at 2^30 and above it saturates.
         *
         * @throws IllegalArgumentException if the value is not finite
         */
        public static QuantizedMultiplier of(double real) {
            if (!Double.isFinite(real)) {
                throw new IllegalArgumentException("a multiplier must be finite, not " + real);
            }
            if (real == 0.0) {
                return new QuantizedMultiplier(0, 0);
            }
            int shift = Math.getExponent(real) + 1;
            if (Math.getExponent(real) < Double.MIN_EXPONENT) {
                return new QuantizedMultiplier(0, 0);
            }
            double mantissa = Math.scalb(real, -shift);
            long fixed = roundHalfAway(mantissa * (1L << 31));
            if (Math.abs(fixed) == 1L << 31) {
                fixed /= 2;
                shift++;
            }
            if (shift < -31) {
                return new QuantizedMultiplier(0, 0);
            }
            if (shift > 30) {
                return new QuantizedMultiplier(Integer.MAX_VALUE, 30);
            }
            return new QuantizedMultiplier((int) fixed, shift);
        }

        /**
         * The multiplier that turns a sum into a mean: this divided by the number of elements, truncated, with as many
         * bits as fit (reference_ops::QuantizedMeanOrSum in reduce.h).
         *
         * @param count 1 or more
         */
        public QuantizedMultiplier dividedBy(int count) {
            int bits = Math.min(31 - Integer.numberOfLeadingZeros(count), 31 + shift);
            return new QuantizedMultiplier((int) (((long) multiplier << bits) / count), shift - bits);
        }
    }

    /** {@code (a * b + 2^30) >> 31}, saturated: the rounding doubling high multiply. */
    public static int saturatingRoundingDoublingHighMul(int a, int b) {
        if (a == Integer.MIN_VALUE && b == Integer.MIN_VALUE) {
            return Integer.MAX_VALUE;
        }
        return (int) (((long) a * b + (1L << 30)) >> 31);
    }

    /** Division by {@code 2^exponent}, halves away from zero; exponent 0 to 31. */
    public static int roundingDivideByPot(int x, int exponent) {
        if (exponent == 0) {
            return x;
        }
        long half = 1L << (exponent - 1);
        return (int) (((long) x + (x < 0 ? half - 1 : half)) >> exponent);
    }

    /** {@code x * multiplier * 2^(shift - 31)} with double rounding; the left shift wraps, as in the reference kernels. */
    public static int multiplyByQuantizedMultiplier(int x, int multiplier, int shift) {
        int left = Math.max(shift, 0);
        int right = Math.max(-shift, 0);
        return roundingDivideByPot(saturatingRoundingDoublingHighMul(x << left, multiplier), right);
    }

    /**
     * {@code floor(x * multiplier * 2^(shift - 31) + 1/2)}: rounded once, halves upward, as TVM does.
     *
     * @param multiplier 0 or more
     * @param shift -31 to 30
     */
    public static long multiplyRoundingUpward(int x, int multiplier, int shift) {
        int right = 31 - shift;
        return ((long) x * multiplier + (1L << (right - 1))) >> right;
    }

    /** {@code x * multiplier * 2^(shift - 31)} rounded once, halves away from zero; ranges as in {@link #multiplyRoundingUpward}. */
    public static long multiplyRoundingAway(int x, int multiplier, int shift) {
        int right = 31 - shift;
        long product = (long) x * multiplier;
        return (product + (1L << (right - 1)) - (product < 0 ? 1 : 0)) >> right;
    }

    /**
     * {@code x * multiplier * 2^(shift - 31)} as ONNX Runtime computes it: x and the product are rounded to single precision, and the
     * product to an integer, halves to even each time.
     *
     * @param multiplier Q31 with at most 24 significant bits, as of a float32
     */
    public static long multiplyInSinglePrecision(int x, int multiplier, int shift) {
        float factor = (float) Math.scalb((double) multiplier, shift - 31);
        return (long) Math.rint((float) x * factor);
    }

    /**
     * {@code x * multiplier * 2^(shift - 31)} of a 64-bit value, rounded once, halves up, with {@link #reducedMultiplier}; the reference kernels' arithmetic
     * for int64 accumulators (MultiplyByQuantizedMultiplier in kernels/internal/common.cc).
     *
     * @param shift below 15
     */
    public static int multiplyByQuantizedMultiplier(long x, int multiplier, int shift) {
        int right = 15 - shift;
        return (int) ((x * reducedMultiplier(multiplier) + (1L << (right - 1))) >> right);
    }

    /** The upper half of a non-negative Q31 multiplier, rounded, at most 0x7FFF. */
    public static int reducedMultiplier(int multiplier) {
        return multiplier < 0x7FFF0000 ? (multiplier + (1 << 15)) >> 16 : 0x7FFF;
    }

    /** Rounds halves away from zero, as C's {@code round}. */
    public static long roundHalfAway(double x) {
        double magnitude = Math.floor(Math.abs(x));
        if (Math.abs(x) - magnitude >= 0.5) {
            magnitude += 1;
        }
        return (long) Math.copySign(magnitude, x);
    }

    /** Limits a value to a range. */
    public static int clamp(long value, long min, long max) {
        return (int) Math.max(min, Math.min(max, value));
    }
}
