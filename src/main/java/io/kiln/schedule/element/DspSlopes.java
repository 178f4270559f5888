// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ProvenSlopes;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import java.util.ArrayList;
import java.util.List;

/**
 * Two elements of a word at a time with DSP instructions, and two words in turn, so that few instructions wait for the one before.
 *
 * <pre>
 *   r0, r1   elements, results     r2 elements left     r3, r4 multiplier, how much more it is below 0     r5, r6 offset, likewise
 *   r8 to r10, r11 to lr           a word, its second element, its first one
 * </pre>
 *
 * @param slopes what it computes
 * @param block elements of an iteration, 1 or an even number, of which the number of elements is a multiple
 */
record DspSlopes(ProvenSlopes slopes, int block) implements SlopesKernel {
    private static final String CONDITION = "defined(__thumb__) && defined(__ARM_FEATURE_DSP)";
    private static final int WORDS = 2;

    /** The registers of a word. */
    private record Word(String both, String second, String first) {}

    @Override
    public String schedule() {
        return "dsp_slopes(shift=" + slopes.shift() + ", unroll=" + block + ")";
    }

    @Override
    public Kernel kernel() {
        AsmText text = new AsmText();
        text.line(".syntax unified");
        text.line("1:");
        if (block == 1) {
            single(text);
        }
        for (int i = block / 2; i > 0; i -= WORDS) {
            words(text, Math.max(0, i - WORDS), i);
        }
        text.line("subs r2, #%d", block);
        text.line("bne 1b");
        String assembly = text.statement(
                List.of("in", "out", "count", "by", "more_by", "offset", "more_offset"),
                List.of("const int16_t*", "int16_t*", "int32_t", "int32_t", "int32_t", "int32_t", "int32_t"),
                List.of("r8", "r9", "r10", "r11", "r12", "lr"));
        return SlopesKernel.of("kiln_dsp_slopes_x" + block, slopes, CONDITION, assembly);
    }

    private void single(AsmText text) {
        text.line("ldrsh r8, [r0], #2");
        select(text, "r9", "r3", "r4", "r8");
        if (slopes.hasOneOffset()) {
            text.line("smlawb r9, r9, r8, r5");
        } else {
            select(text, "r10", "r5", "r6", "r8");
            text.line("smlawb r9, r9, r8, r10");
        }
        text.line("ssat r9, #16, r9, asr #%d", slopes.shift());
        text.line("strh r9, [r1], #2");
    }

    private static void select(AsmText text, String to, String value, String more, String sign) {
        text.line("and %s, %s, %s, asr #31", to, more, sign);
        text.line("add %s, %s, %s", to, to, value);
    }

    /** The last word comes first, so that the pointers move with the first one. */
    private void words(AsmText text, int begin, int end) {
        List<Word> words = new ArrayList<>();
        for (int i = end - 1; i >= begin; i--) {
            Word word = words.isEmpty() ? new Word("r8", "r9", "r10") : new Word("r11", "r12", "lr");
            words.add(word);
            text.line("ldr %s, %s", word.both, place("r0", i));
        }
        for (Word word : words) {
            text.line("and %s, r4, %s, asr #31", word.second, word.both);
            text.line("lsl %s, %s, #16", word.first, word.both);
        }
        for (Word word : words) {
            text.line("add %s, %s, r3", word.second, word.second);
            text.line("and %s, r4, %s, asr #31", word.first, word.first);
            text.line("smlawt %s, %s, %s, r5", word.second, word.second, word.both);
            text.line("add %s, %s, r3", word.first, word.first);
            text.line("smlawb %s, %s, %s, r5", word.first, word.first, word.both);
        }
        if (!slopes.hasOneOffset()) {
            words.forEach(word -> offsets(text, word));
        }
        for (Word word : words) {
            if (slopes.fits()) {
                text.line("asr %s, %s, #%d", word.first, word.first, slopes.shift());
                text.line("pkhbt %s, %s, %s, lsl #%d", word.first, word.first, word.second, 16 - slopes.shift());
            } else {
                text.line("ssat %s, #16, %s, asr #%d", word.first, word.first, slopes.shift());
                text.line("ssat %s, #16, %s, asr #%d", word.second, word.second, slopes.shift());
                text.line("pkhbt %s, %s, %s, lsl #16", word.first, word.first, word.second);
            }
        }
        for (int i = end - 1; i >= begin; i--) {
            text.line("str %s, %s", words.get(end - 1 - i).first, place("r1", i));
        }
    }

    /** How much more is added below 0. */
    private static void offsets(AsmText text, Word word) {
        text.line("cmp %s, #0", word.both);
        text.line("it lt");
        text.line("addlt %s, %s, r6", word.second, word.second);
        text.line("lsls %s, %s, #16", word.both, word.both);
        text.line("it mi");
        text.line("addmi %s, %s, r6", word.first, word.first);
    }

    private String place(String pointer, int word) {
        return word == 0 ? "[" + pointer + "], #" + Short.BYTES * block : "[" + pointer + ", #" + 4 * word + "]";
    }
}
