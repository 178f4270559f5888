// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import io.kiln.frontend.onnx.model.ElementType;
import java.util.List;

/** Floats of 16 bits and less. */
final class HalfFloats {
    private static final int FRACTION_BITS = 10;
    private static final int EXPONENT_MASK = 0x1F;
    private static final int BIAS = 15;

    private static final int BRAIN_BIAS = 127;
    private static final List<Float> FOUR_BITS = List.of(0f, 0.5f, 1f, 1.5f, 2f, 3f, 4f, 6f);

    private HalfFloats() {}

    /** A number of a type of 8 or 4 bits, by its bits. */
    static float ofByte(ElementType type, int bits) {
        return switch (type) {
            case FLOAT8E4M3FN -> (bits & 0x7F) == 0x7F ? Float.NaN : small(bits, 3, 7);
            case FLOAT8E4M3FNUZ -> bits == 0x80 ? Float.NaN : small(bits, 3, 8);
            case FLOAT8E5M2 -> ofHalf(bits << Byte.SIZE);
            case FLOAT8E5M2FNUZ -> bits == 0x80 ? Float.NaN : small(bits, 2, 16);
            case FLOAT8E8M0 -> bits == 0xFF ? Float.NaN : Math.scalb(1f, bits - BRAIN_BIAS);
            case FLOAT4E2M1 -> (bits & 8) == 0 ? FOUR_BITS.get(bits & 7) : -FOUR_BITS.get(bits & 7);
            default -> throw new IllegalArgumentException(type.text());
        };
    }

    /** A number of 8 bits without infinities. */
    private static float small(int bits, int fractionBits, int bias) {
        int fraction = bits & ((1 << fractionBits) - 1);
        int exponent = (bits & 0x7F) >> fractionBits;
        float magnitude = exponent == 0
                ? Math.scalb((float) fraction, 1 - bias - fractionBits)
                : Math.scalb((float) (fraction | 1 << fractionBits), exponent - bias - fractionBits);
        return (bits & 0x80) == 0 ? magnitude : -magnitude;
    }

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
