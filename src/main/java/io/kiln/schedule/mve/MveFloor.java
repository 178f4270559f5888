// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.lower.ProvenRescale;
import io.kiln.lower.ProvenRescale.Corrected;
import java.util.Locale;

/**
 * The instructions of a {@link ProvenRescale} relative to the zero point, for vectors of four sums: scaled, multiplied by VMULH, which
 * rounds down, an offset added, corrected, and shifted.
 *
 * @param scaleBits powers of two by which sums are scaled before the high multiply
 * @param shift bits to the right after it
 * @param corrected which values are corrected before: none, odd ones, or those equal to the one that their channel lists
 */
record MveFloor(int scaleBits, int shift, Corrected corrected) {
    static MveFloor of(ProvenRescale rescale) {
        return new MveFloor(rescale.scaleBits(), rescale.shift(), rescale.corrected());
    }

    /** Whether the vectors are able to correct what a rescaling does. */
    static boolean suits(ProvenRescale rescale) {
        return switch (rescale.corrected()) {
            case NONE, ODD -> true;
            case LISTED -> rescale.corrections() == 1;
            case NEGATIVE, EVEN -> false;
        };
    }

    boolean corrects() {
        return corrected != Corrected.NONE;
    }

    /** Whether {@link #correct} needs a free vector. */
    boolean needsScratch() {
        return corrected == Corrected.ODD;
    }

    /** Part of a kernel's name. */
    String suffix() {
        String correction = corrected == Corrected.NONE ? "" : corrected == Corrected.ODD ? "_odd" : "_listed";
        return "_scale" + scaleBits + "_shift" + shift + correction;
    }

    /** The last arguments of the twin: scale, the bit of odd results, what listed values are lowered by, shift. */
    String arguments() {
        int odd = corrected == Corrected.ODD ? 1 << shift : 0;
        int half = corrected == Corrected.LISTED ? half() : 0;
        return String.format(Locale.ROOT, ", %d, %d, %d, %d", 1 << scaleBits, odd, half, shift);
    }

    private int half() {
        return 1 << (shift - 1);
    }

    /** Scales a vector. */
    String scale(int q) {
        return scaleBits == 0 ? "" : String.format(Locale.ROOT, "vshl.i32 q%1$d, q%1$d, #%2$d\n", q, scaleBits);
    }

    /**
     * Corrects a vector; uses r0 for listed values.
     *
     * @param q the vector
     * @param correction vector of its channels' corrections
     * @param scratch a free vector
     */
    String correct(int q, int correction, int scratch) {
        return switch (corrected) {
            case ODD -> String.format(Locale.ROOT, """
                vshl.i32 q%3$d, q%1$d, #%4$d
                vshr.s32 q%3$d, q%3$d, #31
                vand q%3$d, q%3$d, q%2$d
                vsub.i32 q%1$d, q%1$d, q%3$d
                """, q, correction, scratch, 31 - shift);
            case LISTED -> String.format(Locale.ROOT, """
                mov r0, #%3$d
                vpt.i32 eq, q%1$d, q%2$d
                vsubt.i32 q%1$d, q%1$d, r0
                """, q, correction, half());
            default -> "";
        };
    }

    /** Shifts a vector. */
    String shift(int q) {
        return String.format(Locale.ROOT, "vshr.s32 q%1$d, q%1$d, #%2$d\n", q, shift);
    }
}
