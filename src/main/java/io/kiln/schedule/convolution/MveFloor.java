// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.lower.ProvenRequantize;
import io.kiln.lower.ProvenRequantize.Corrected;
import java.util.Locale;

/**
 * The instructions of a {@link ProvenRequantize} relative to the zero point, for vectors of four sums: scaled, multiplied by VMULH, which
 * rounds down, an offset added, corrected, and shifted.
 *
 * @param scaleBits powers of two by which sums are scaled before the high multiply
 * @param shift bits to the right after it
 * @param corrected which values are corrected before: none, odd ones, or those equal to the one that their channel lists
 */
public record MveFloor(int scaleBits, int shift, Corrected corrected) {
    static MveFloor of(ProvenRequantize rescale) {
        return new MveFloor(rescale.scaleBits(), rescale.shift(), rescale.corrected());
    }

    /** Whether the vectors are able to correct what a rescaling does. */
    static boolean suits(ProvenRequantize rescale) {
        return switch (rescale.corrected()) {
            case NONE, ODD -> true;
            case LISTED -> rescale.corrections() == 1;
            case NEGATIVE, EVEN -> false;
        };
    }

    /** Whether some values are corrected. */
    public boolean corrects() {
        return corrected != Corrected.NONE;
    }

    /** Whether odd values are corrected, which needs a free vector. */
    public boolean isOdd() {
        return corrected == Corrected.ODD;
    }

    /** Part of a kernel's name. */
    String suffix() {
        String correction = !corrects() ? "" : isOdd() ? "_odd" : "_listed";
        return "_scale" + scaleBits + "_shift" + shift + correction;
    }

    /** The last arguments of the twin: scale, the bit of odd results, what listed values are lowered by, shift. */
    String arguments() {
        int odd = isOdd() ? 1 << shift : 0;
        int half = corrected == Corrected.LISTED ? half() : 0;
        return String.format(Locale.ROOT, ", %d, %d, %d, %d", 1 << scaleBits, odd, half, shift);
    }

    /** What listed values are lowered by. */
    public int half() {
        return 1 << (shift - 1);
    }
}
