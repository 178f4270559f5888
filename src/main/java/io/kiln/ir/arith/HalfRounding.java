// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/** Floats rounded to the nearest number of a format of 16 bits, halves to even, as IEEE 754 and ONNX convert them. */
public final class HalfRounding {
    /** From here on float16 has infinity: half a step above its largest number. */
    private static final float INFINITE = 65520;

    /** Exponent of the last bit of a subnormal float16. */
    private static final int LEAST_EXPONENT = -24;

    private static final int FRACTION_BITS = 10;
    private static final int BRAIN_DROPPED = 16;

    private HalfRounding() {}

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
