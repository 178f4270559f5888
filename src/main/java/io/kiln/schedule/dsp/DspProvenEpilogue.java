// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;
import java.util.Locale;

/**
 * By {@link io.kiln.lower.ProvenRescale}: about four instructions per value, with one shift for all channels as an immediate.
 *
 * @param range what does not depend on the rescaling
 * @param scaleBits powers of two by which sums are scaled before the high multiply
 * @param shift bits to the right after it
 * @param correction of values; if of negative ones, the zero point is added after that
 */
public record DspProvenEpilogue(Range range, int scaleBits, int shift, RescaleCorrection correction)
        implements DspEpilogue {
    @Override
    public List<String> parameters() {
        return isSigned() ? List.of("late") : List.of();
    }

    @Override
    public List<Expr> arguments() {
        return isSigned() ? List.of(Exprs.imm(correction.lateOffset())) : List.of();
    }

    @Override
    public String suffix() {
        return range.prefix()
                + "_scale" + scaleBits + "_shift" + shift
                + (isSigned() ? "_signed" : correction.suffix())
                + range.suffix();
    }

    public boolean isSigned() {
        return correction.isSigned();
    }

    @Override
    public String constantsInWords() {
        return "a multiplier and an offset" + (correction.count() == 0 ? "" : " and " + correction.text());
    }

    @Override
    public int constants() {
        return correction.constants();
    }

    @Override
    public void rescale(AsmText asm, Sums sums, String late) {
        List<String> values = sums.registers();
        scale(asm, sums);
        if (isSigned()) {
            asm.line("ldm r1!, {r10, r11, r12}");
            multiply(asm, values, "r10", "r11");
            asm.line("ldr r11, %s", late);
            correctNegative(asm, values, "r11");
        } else {
            asm.line("ldrd r10, r11, [r1], #8");
            multiply(asm, values, "r10", "r11");
            for (int i = 0; i < correction.count(); i++) {
                asm.line("ldr r12, [r1], #4");
                correction.apply(asm, values, "r12", "r10");
            }
        }
        shift(asm, values);
    }

    /** Loads what both channels need at once. */
    @Override
    public void rescaleTwo(AsmText asm, Sums first, Sums second, String late) {
        if (isSigned()) {
            asm.line("ldr lr, %s", late);
            for (Sums sums : List.of(first, second)) {
                scale(asm, sums);
                asm.line("ldm r1!, {r10, r11, r12}");
                multiply(asm, sums.registers(), "r10", "r11");
                correctNegative(asm, sums.registers(), "lr");
                shift(asm, sums.registers());
            }
        } else if (correction.count() > 0) {
            rescale(asm, first, late);
            rescale(asm, second, late);
        } else {
            scale(asm, first);
            scale(asm, second);
            asm.line("ldm r1!, {r10, r11, r12, lr}");
            multiply(asm, first.registers(), "r10", "r11");
            multiply(asm, second.registers(), "r12", "lr");
            shift(asm, first.registers());
            shift(asm, second.registers());
        }
    }

    private void scale(AsmText asm, Sums sums) {
        sums.separate(asm, range);
        int left = scaleBits - sums.bits(range);
        if (left > 0) {
            sums.registers().forEach(v -> asm.line("lsl %s, %s, #%d", v, v, left));
        }
    }

    private static void multiply(AsmText asm, List<String> values, String multiplier, String offset) {
        values.forEach(v -> asm.line("smmla %s, %s, %s, %s", v, v, multiplier, offset));
    }

    /** Subtracts the correction in r12 from negative values, and adds the late offset. */
    private static void correctNegative(AsmText asm, List<String> values, String late) {
        for (String v : values) {
            asm.line("and r10, r12, %s, asr #31", v);
            asm.line("sub %s, %s, r10", v, v);
            asm.line("add %s, %s, %s", v, v, late);
        }
    }

    private void shift(AsmText asm, List<String> values) {
        values.forEach(v -> asm.line("ssat %s, #8, %s, asr #%d", v, v, shift));
        range.limit(asm, values);
    }

    @Override
    public String value(String sum) {
        String multiplied = String.format(
                Locale.ROOT,
                "int32_t value = w[1] + (int32_t)(((int64_t)%s * %d * w[0]) >> 32);\n",
                sum,
                1 << scaleBits);
        String corrected =
                correction.twin("value", i -> "w[" + (2 + i) + "]", isSigned() ? "late" : "" + correction.argument());
        return multiplied + corrected + String.format(Locale.ROOT, "value >>= %d;\n", shift);
    }
}
