// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

/** Floats of 16 bits. */
final class HalfFloats {
    private static final int FRACTION_BITS = 10;
    private static final int EXPONENT_MASK = 0x1F;
    private static final int BIAS = 15;

    private HalfFloats() {}

    /** An IEEE 754 binary16 number, by its bits. */
    static float ofHalf(int bits) {
        int exponent = (bits >> FRACTION_BITS) & EXPONENT_MASK;
        int fraction = bits & ((1 << FRACTION_BITS) - 1);
        float magnitude;
        if (exponent == EXPONENT_MASK) {
            magnitude = fraction == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
        } else if (exponent == 0) {
            magnitude = Math.scalb((float) fraction, 1 - BIAS - FRACTION_BITS);
        } else {
            magnitude = Math.scalb((float) (fraction | 1 << FRACTION_BITS), exponent - BIAS - FRACTION_BITS);
        }
        return (bits & 0x8000) == 0 ? magnitude : -magnitude;
    }

    /** A bfloat16 number, by its bits: the upper half of a float32. */
    static float ofBrain(int bits) {
        return Float.intBitsToFloat(bits << 16);
    }
}
