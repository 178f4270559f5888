// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import java.util.List;
import java.util.Locale;

/**
 * By {@link io.kiln.lower.FloorRescale}, whose offsets have 64 bits: about eight instructions per value.
 *
 * @param range what does not depend on the rescaling
 */
public record DspFloorEpilogue(Range range) implements DspEpilogue {
    @Override
    public String suffix() {
        return range.prefix() + "_floor" + range.suffix();
    }

    @Override
    public String constantsInWords() {
        return "a multiplier, both words of an offset and a shift";
    }

    @Override
    public int constants() {
        return 4;
    }

    @Override
    public void rescale(AsmText asm, Sums sums, String late) {
        List<String> values = sums.registers();
        sums.separate(asm, range);
        int bits = sums.bits(range);
        asm.line("ldm r1!, {r10, r11, r12}");
        for (int i = 0; i < values.size(); i++) {
            String v = values.get(i);
            if (i > 0) {
                asm.line("ldrd r11, r12, [r1, #-8]");
            }
            if (bits > 0) {
                asm.line("asr %s, %s, #%d", v, v, bits);
            }
            asm.line("smlal r11, r12, %s, r10", v);
            if (i < values.size() - 1) {
                asm.line("mov %s, r12", v);
            }
        }
        asm.line("ldr r10, [r1], #4");
        for (int i = 0; i < values.size(); i++) {
            asm.line("asr %s, %s, r10", values.get(i), i < values.size() - 1 ? values.get(i) : "r12");
        }
        values.forEach(v -> asm.line("ssat %s, #8, %s", v, v));
        range.limit(asm, values);
    }

    @Override
    public String value(String sum) {
        return String.format(Locale.ROOT, """
            const int64_t offset = (int64_t)((uint64_t)(uint32_t)w[2] << 32 | (uint32_t)w[1]);
            int32_t value = (int32_t)((offset + (int64_t)%s * w[0]) >> 32) >> w[3];
            """, sum);
    }
}
