// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import io.kiln.lower.ProvenRescale;

/**
 * Steps of a {@link ProvenRescale} on Armv6-M, which has no long multiplication and no saturation. The value is in r4.
 *
 * <p>Sums that are scaled by {@code 2^11} have at most 20 bits and a sign, so that products with a third of the multiplier each fit 32 bits:
 * {@code sum * 2^11 * m / 2^32 = (sum * m2 + (sum * m1 + sum * m0 / 2^11) / 2^10)} for {@code m = 2^21 * m2 + 2^11 * m1 + m0}, where divisions round
 * downwards. Other sums are scaled, and both factors split into halves.
 *
 * @param isInParts whether the sum is multiplied by three parts of the multiplier, without being scaled
 */
public record Thumb1Rescale(boolean isInParts) {
    /** The scale of sums that are multiplied by parts of the multiplier. */
    public static final int SCALE_BITS = 11;

    private static final int LOW_BITS = 11;
    private static final int MIDDLE_BITS = 10;

    public static Thumb1Rescale of(ProvenRescale rescale) {
        return new Thumb1Rescale(rescale.scaleBits() == SCALE_BITS);
    }

    /** Part of a kernel's name. */
    public String suffix() {
        return isInParts ? "_parts" : "";
    }

    /** Splits the multiplier in r1: into r1 and r2, in parts also into r0. */
    public void split(AsmText asm) {
        if (!isInParts) {
            asm.line("asrs r2, r1, #16");
            asm.line("uxth r1, r1");
            return;
        }
        asm.line("lsrs r0, r1, #%d", LOW_BITS + MIDDLE_BITS);
        asm.line("lsls r2, r1, #%d", Integer.SIZE - LOW_BITS - MIDDLE_BITS);
        asm.line("lsrs r2, r2, #%d", Integer.SIZE - MIDDLE_BITS);
        asm.line("lsls r1, r1, #%d", Integer.SIZE - LOW_BITS);
        asm.line("lsrs r1, r1, #%d", Integer.SIZE - LOW_BITS);
    }

    /** The upper word of the product of r4 and the multiplier, in r4; r5 to r7 change. */
    public void highWord(AsmText asm) {
        if (isInParts) {
            inParts(asm);
            return;
        }
        asm.line("uxth r5, r4");
        asm.line("asrs r4, r4, #16");
        asm.line("movs r6, r1");
        asm.line("muls r6, r5, r6");
        asm.line("lsrs r6, r6, #16");
        asm.line("movs r7, r1");
        asm.line("muls r7, r4, r7");
        asm.line("adds r6, r6, r7");
        asm.line("muls r4, r2, r4");
        asm.line("muls r5, r2, r5");
        asm.line("uxth r7, r6");
        asm.line("asrs r6, r6, #16");
        asm.line("adds r4, r4, r6");
        asm.line("adds r5, r5, r7");
        asm.line("asrs r5, r5, #16");
        asm.line("adds r4, r4, r5");
    }

    private static void inParts(AsmText asm) {
        asm.line("movs r6, r1");
        asm.line("muls r6, r4, r6");
        asm.line("asrs r6, r6, #%d", LOW_BITS);
        asm.line("movs r7, r2");
        asm.line("muls r7, r4, r7");
        asm.line("adds r6, r6, r7");
        asm.line("asrs r6, r6, #%d", MIDDLE_BITS);
        asm.line("muls r4, r0, r4");
        asm.line("adds r4, r4, r6");
    }

    /** Limits r4 to int8; the result is in r5. */
    public static void saturate(AsmText asm) {
        asm.line("sxtb r5, r4");
        asm.line("cmp r5, r4");
        asm.line("beq 7f");
        asm.line("asrs r5, r4, #31");
        asm.line("mvns r5, r5");
        asm.line("lsrs r5, r5, #24");
        asm.line("subs r5, #128");
        asm.line("7:");
    }
}
