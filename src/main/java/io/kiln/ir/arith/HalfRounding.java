// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/** Numbers of formats of 16 bits as floats; and floats rounded to the nearest of these, halves to even, as IEEE 754 and ONNX convert them. */
public final class HalfRounding {
    /** From here on float16 has infinity: half a step above its largest number. */
    private static final float INFINITE = 65520;

    /** Exponent of the last bit of a subnormal float16. */
    private static final int LEAST_EXPONENT = -24;

    private static final int EXPONENT_MASK = 31;
    private static final int FRACTION_BITS = 10;
    private static final int BRAIN_DROPPED = 16;

    private HalfRounding() {}

    /** The number of float16 with such bits, of which the lower 16 count. */
    public static float ofBits(int bits) {
        int exponent = bits >> FRACTION_BITS & EXPONENT_MASK;
        int fraction = bits & ((1 << FRACTION_BITS) - 1);
        float magnitude;
        if (exponent == EXPONENT_MASK) {
            magnitude = fraction == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
        } else {
            int mantissa = exponent == 0 ? fraction : fraction | 1 << FRACTION_BITS;
            magnitude = Math.scalb((float) mantissa, Math.max(1, exponent) - 1 + LEAST_EXPONENT);
        }
        return (bits & 0x8000) == 0 ? magnitude : -magnitude;
    }

    /** The nearest number that float16 holds; NaN and infinities are unchanged. */
    public static float toFloat16(float x) {
        if (!Float.isFinite(x)) {
            return x;
        }
        if (Math.abs(x) >= INFINITE) {
            return Math.copySign(Float.POSITIVE_INFINITY, x);
        }
        int unit = Math.max(LEAST_EXPONENT, Math.getExponent(x) - FRACTION_BITS);
        return (float) Math.scalb(Math.rint(Math.scalb((double) x, -unit)), unit);
    }

    /** The nearest number that bfloat16 holds; NaN and infinities are unchanged. */
    public static float toBfloat16(float x) {
        if (!Float.isFinite(x)) {
            return x;
        }
        int bits = Float.floatToRawIntBits(x);
        int half = (1 << (BRAIN_DROPPED - 1)) - 1 + (bits >>> BRAIN_DROPPED & 1);
        return Float.intBitsToFloat((bits + half) >>> BRAIN_DROPPED << BRAIN_DROPPED);
    }
}
