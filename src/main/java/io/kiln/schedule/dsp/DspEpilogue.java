// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.lower.ProvenRescale;
import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.KernelText;
import java.util.List;

/**
 * The conversion of sums to int8 in a kernel: about four instructions per value, with one shift for all channels as an
 * immediate.
 *
 * @param isSummed whether weights are packed as sums, otherwise as bytes or alone
 * @param freeBits powers of two by which the first channel's sums are already scaled
 * @param scaleBits powers of two by which sums are scaled before the high multiply
 * @param shift bits to the right after it
 * @param correction of values; if of negative ones, the zero point is added after that
 * @param low lower limit
 * @param high upper limit
 */
record DspEpilogue(
        boolean isSummed, int freeBits, int scaleBits, int shift, RescaleCorrection correction, int low, int high) {

    static DspEpilogue of(DspRescale rescale) {
        ProvenRescale r = rescale.rescale();
        return new DspEpilogue(
                rescale.isSummed(),
                rescale.freeBits(),
                r.scaleBits(),
                r.shift(),
                RescaleCorrection.of(r),
                rescale.low(),
                rescale.high());
    }

    /** Names of its scalar parameters in a kernel. */
    List<String> parameters() {
        return isSigned() ? List.of("late") : List.of();
    }

    private String declarations() {
        return String.join("", parameters().stream().map(p -> ", int32_t " + p).toList());
    }

    /** Their values. */
    List<Expr> arguments(DspRescale rescale) {
        return isSigned() ? List.of(Exprs.imm(rescale.rescale().lateOffset())) : List.of();
    }

    /** Part of a kernel's name. */
    String suffix() {
        String limits = isLimited() ? "_limit_" + (low + 128) + "_" + (high + 128) : "";
        return (isSummed ? "" : "_bytes")
                + "_scale" + scaleBits + "_shift" + shift
                + (isSigned() ? "_signed" : correction.suffix())
                + limits;
    }

    private boolean isSigned() {
        return correction.isSigned();
    }

    private boolean isLimited() {
        return low > -128 || high < 127;
    }

    /**
     * Scales the sums of one channel.
     *
     * @param sums registers of {@code 256 * A + B} if {@code others} are given and weights are packed as sums; registers of
     *     {@code 256 * A} or, as bytes, of {@code A} if the channel is alone; else of {@code B}
     * @param others registers of {@code B}; may be empty
     * @param isSecond whether the sums are {@code B}
     */
    void scale(AsmText asm, List<String> sums, List<String> others, boolean isSecond) {
        int left = scaleBits - (isSecond ? 0 : freeBits);
        for (int i = 0; i < sums.size(); i++) {
            String sum = sums.get(i);
            if (isSummed && !others.isEmpty()) {
                asm.line("sub %s, %s, %s", sum, sum, others.get(i));
            }
            if (left > 0) {
                asm.line("lsl %s, %s, #%d", sum, sum, left);
            }
        }
    }

    /**
     * Rescales, limits and stores scaled sums of one channel, whose constants r1 points to; uses r10, r11 and r12.
     *
     * @param sums registers, at most two
     * @param places address of each result
     * @param late address of the late offset
     */
    void finish(AsmText asm, List<String> sums, List<String> places, String late) {
        asm.line("ldrd r10, r11, [r1], #8");
        sums.forEach(s -> asm.line("smmla %s, %s, r10, r11", s, s));
        if (!isSigned()) {
            for (int i = 0; i < correction.count(); i++) {
                asm.line("ldr r12, [r1], #4");
                correction.apply(asm, sums, "r12", "r10");
            }
        } else {
            asm.line("ldr r12, [r1], #4");
            asm.line("ldr r11, %s", late);
            for (String s : sums) {
                asm.line("and r10, r12, %s, asr #31", s);
                asm.line("sub %s, %s, r10", s, s);
                asm.line("add %s, %s, r11", s, s);
            }
        }
        sums.forEach(s -> asm.line("ssat %s, #8, %s, asr #%d", s, s, shift));
        sums.forEach(s -> limit(asm, s));
        for (int i = 0; i < sums.size(); i++) {
            asm.line("strb %s, %s", sums.get(i), places.get(i));
        }
    }

    private void limit(AsmText asm, String register) {
        if (low > -128) {
            asm.line("cmp %s, #%d", register, low);
            asm.line("it lt");
            asm.line("movlt %s, #%d", register, low);
        }
        if (high < 127) {
            asm.line("cmp %s, #%d", register, high);
            asm.line("it gt");
            asm.line("movgt %s, #%d", register, high);
        }
    }

    /** Sets what all kernels' texts say of it in their heads: what follows the multiplier, and the last parameters. */
    KernelText head(KernelText text) {
        return text.with("OFFSET_AND_MORE", "offset" + (correction.count() == 0 ? "" : " and " + correction.text()))
                .with("BLOCKS_AND_LATE", "int32_t blocks" + declarations())
                .with("CONSTANTS", constants());
    }

    /** As {@link #head}, for kernels whose weights are halfwords of two channels. */
    KernelText headOfPairs(KernelText text) {
        return head(text)
                .with("HALFWORDS", isSummed ? "256 * first + second" : "first and second as bytes")
                .with("FIRST_WEIGHT", isSummed ? "(both - second) / 256" : "(int8_t)(both >> 8)");
    }

    /** Words of a channel's constants. */
    int constants() {
        return correction.constants();
    }

    /** The same in C: from a sum, with {@code w} at the channel's constants, declares {@code value}. */
    String twin(String indent, String sum) {
        StringBuilder c = new StringBuilder();
        c.append("int32_t value = w[1] + (int32_t)(((int64_t)%s * %d * w[0]) >> 32);\n".formatted(sum, 1 << scaleBits));
        c.append(correction.twin("value", i -> "w[" + (2 + i) + "]", isSigned() ? "late" : "" + correction.argument()));
        c.append("value >>= %d;\n".formatted(shift));
        c.append("value = value < %d ? %d : (value > %d ? %d : value);\n".formatted(low, low, high, high));
        return c.toString().indent(indent.length());
    }
}
