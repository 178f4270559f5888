// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * By {@link io.kiln.lower.StepwiseRescale}: about seven instructions per value.
 *
 * @param range what does not depend on the rescaling
 * @param left bits by which sums are scaled
 * @param isRounded whether the high word is rounded
 * @param isSigned whether negative values are corrected
 * @param shift bits to the right, if all channels have the same
 */
public record DspStepwiseEpilogue(Range range, int left, boolean isRounded, boolean isSigned, Optional<Integer> shift)
        implements DspEpilogue {
    @Override
    public String suffix() {
        return range.prefix()
                + (isRounded ? "_twice" : "_once")
                + left
                + (isSigned ? "_signed" : "")
                + shift.map(s -> "_shift" + s).orElse("")
                + range.suffix();
    }

    @Override
    public String constantsInWords() {
        return shift.isPresent() ? "a multiplier, an offset and a bias" : "a multiplier, an offset, a bias and a shift";
    }

    @Override
    public int constants() {
        return shift.isPresent() ? 3 : 4;
    }

    @Override
    public void rescale(AsmText asm, Sums sums, String late) {
        List<String> values = sums.registers();
        sums.separate(asm, range);
        asm.line("ldm r1!, {r10, r11, r12}");
        int more = left - sums.bits(range);
        String scaled = more == 0 ? "" : more > 0 ? ", lsl #" + more : ", asr #" + -more;
        values.forEach(v -> asm.line("add %s, r12, %s%s", v, v, scaled));
        multiply(asm, values);
        if (shift.isEmpty()) {
            asm.line("ldr r12, [r1], #4");
            values.forEach(v -> asm.line("asr %s, %s, r12", v, v));
        }
        String last = shift.map(s -> ", asr #" + s).orElse("");
        values.forEach(v -> asm.line("ssat %s, #8, %s%s", v, v, last));
        range.limit(asm, values);
    }

    /** Adds the sign, which is -1 or 0, to the offset before the offset is added. */
    private void multiply(AsmText asm, List<String> values) {
        String multiply = isRounded ? "smmlar" : "smmla";
        for (String v : values) {
            if (isSigned) {
                String offset = v.equals(values.get(values.size() - 1)) ? "r11" : "r12";
                asm.line("add %s, r11, %s, asr #31", offset, v);
                asm.line("%s %s, %s, r10, %s", multiply, v, v, offset);
            } else {
                asm.line("%s %s, %s, r10, r11", multiply, v, v);
            }
        }
    }

    @Override
    public String value(String sum) {
        String half = isRounded ? " + (INT64_C(1) << 31)" : "";
        String sign = isSigned ? " - (scaled < 0)" : "";
        return String.format(Locale.ROOT, "const int32_t scaled = %s * %d + w[2];\n", sum, 1 << left)
                + String.format(
                        Locale.ROOT,
                        "int32_t value = (int32_t)(((int64_t)scaled * w[0]%s) >> 32) + w[1]%s;\n",
                        half,
                        sign)
                + String.format(
                        Locale.ROOT, "value >>= %s;\n", shift.map(s -> "" + s).orElse("w[3]"));
    }
}
