// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.lower.ProvenRescale;
import io.kiln.lower.ProvenRescale.Corrected;
import io.kiln.schedule.parts.AsmText;
import java.util.List;

/**
 * How kernels correct values before they are shifted. Negative values have a late offset too, which is up to the kernel.
 *
 * @param corrected which values
 * @param count number of corrections of each channel
 * @param shift bits to the right after it
 */
record DspCorrection(Corrected corrected, int count, int shift) {
    static DspCorrection of(ProvenRescale rescale) {
        return new DspCorrection(rescale.corrected(), rescale.corrections(), rescale.shift());
    }

    /** Whether negative values are corrected. */
    boolean isSigned() {
        return corrected == Corrected.NEGATIVE;
    }

    /** Part of a kernel's name, except for negative values. */
    String suffix() {
        return switch (corrected) {
            case NONE, NEGATIVE -> "";
            case ODD -> "_odd";
            case EVEN -> "_even";
            case LISTED -> "_listed" + count;
        };
    }

    /** What a comment says of the channel's constants. */
    String text() {
        return switch (corrected) {
            case NONE -> "";
            case NEGATIVE -> "what negative results are corrected by";
            case ODD -> "what odd results are corrected by";
            case EVEN -> "what even results are corrected by";
            case LISTED -> "values to be lowered";
        };
    }

    /**
     * Corrects odd, even or listed values.
     *
     * @param values registers
     * @param correction register of the channel's correction
     * @param scratch a register that is free
     */
    void apply(AsmText asm, List<String> values, String correction, String scratch) {
        for (String value : values) {
            if (corrected == Corrected.EVEN) {
                asm.line("lsls %s, %s, #%d", scratch, value, 31 - shift);
                asm.line("it pl");
                asm.line("subpl %s, %s", value, correction);
            } else if (corrected == Corrected.ODD) {
                asm.line("ubfx %s, %s, #%d, #1", scratch, value, shift);
                asm.line("mls %s, %s, %s, %s", value, scratch, correction, value);
            } else {
                asm.line("cmp %s, %s", value, correction);
                asm.line("it eq");
                asm.line("subeq %s, #%d", value, 1 << (shift - 1));
            }
        }
    }

    /**
     * The same in C.
     *
     * @param constants C's name of the table
     * @param first index of the channel's first correction
     */
    String twin(String constants, int first) {
        if (corrected == Corrected.ODD || corrected == Corrected.EVEN) {
            return "value -= (value >> %d & 1) == %d ? %s[%d] : 0;\n"
                    .formatted(shift, corrected == Corrected.ODD ? 1 : 0, constants, first);
        }
        StringBuilder isListed = new StringBuilder();
        for (int i = 0; i < count; i++) {
            isListed.append(i == 0 ? "" : " || ").append("value == %s[%d]".formatted(constants, first + i));
        }
        return "value -= %s ? %d : 0;\n".formatted(isListed, 1 << (shift - 1));
    }
}
