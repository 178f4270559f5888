// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.shared;

import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.schedule.parts.ScalarRescale;
import io.kiln.tir.KernelText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The conversion of sums to int8 at the end of a block on Cortex-M with the DSP extension; constants are read where r1 points.
 *
 * @param rescale the rescaling; its values that differ from layer to layer are given at run time
 */
record SharedEpilogue(ScalarRescale rescale) {
    /** Powers of two by which the first of two channels is scaled already. */
    static final int FREE_BITS = 8;

    /** Stack offset of the shift, of which only the lowest byte is used; the other parameters follow it. */
    private static final int SHIFT = 0;

    /**
     * Registers that are free.
     *
     * @param first of a pair of neighbours
     * @param second the other one
     */
    record Free(String first, String second, String third, String fourth) {}

    private static final Free WITHOUT_SUMS = new Free("r10", "r11", "r12", "lr");

    /** Part of a kernel's name. */
    String suffix() {
        return rescale.suffix();
    }

    /** C's names of {@link #header}. */
    private List<String> names() {
        return rescale.parameters().subList(1, rescale.parameters().size());
    }

    /**
     * The words that all channels have in common: the shift and, from bit 8 on, the power of two by which sums are
     * scaled; what the correction needs; limits.
     */
    List<Integer> header() {
        List<Integer> words = new ArrayList<>(
                List.of(rescale.proven().shift() | rescale.proven().scaleBits() << 8));
        rescale.correction()
                .parameter()
                .ifPresent(p -> words.add(rescale.correction().argument()));
        if (rescale.isLimited()) {
            words.addAll(List.of(rescale.low(), rescale.high()));
        }
        return words;
    }

    /** The constants of a channel. */
    List<Integer> constants(int channel) {
        return rescale.proven().constants(channel);
    }

    /** Bytes that the assembly moves from the {@linkplain #header common words} to the stack. */
    int bytes() {
        return Integer.BYTES * names().size();
    }

    /** Sets the parameters of a kernel's text for its head; the text reads the common words by a pointer. */
    KernelText head(KernelText text, String common) {
        RescaleCorrection correction = rescale.correction();
        String line = correction.twin(
                "value", i -> "w[" + (2 + i) + "]", correction.parameter().orElse(""));
        List<String> names = names();
        String declarations = IntStream.range(1, names.size())
                .mapToObj(i -> String.format(Locale.ROOT, "  const int32_t %s = %s[%d];\n", names.get(i), common, i))
                .collect(Collectors.joining(
                        "", String.format(Locale.ROOT, "  const int32_t shift = %s[0] & 0xFF;\n", common), ""));
        return text.with("CORRECTION", line.indent(8))
                .with("CONSTANTS", correction.constants())
                .with("LOW", rescale.isLimited() ? "low" : "-128")
                .with("HIGH", rescale.isLimited() ? "high" : "127")
                .with("HEADER", declarations);
    }

    /**
     * Moves the common words to the top of the stack.
     *
     * @param pointer register that points to them, and then behind them
     */
    void push(AsmText asm, String pointer) {
        String registers = "{"
                + String.join(
                        ", ",
                        List.of("r5", "r6", "r7", "r8", "r9", "r10", "r11").subList(0, names().size())) + "}";
        asm.line("ldm %s!, %s", pointer, registers);
        asm.line("push %s", registers);
    }

    /**
     * Rescales and limits sums, with the common words on top of the stack.
     *
     * @param channels registers of each channel's sums; those of the first of two hold 256 times the sum plus the second's
     */
    void emit(AsmText asm, List<List<String>> channels) {
        scale(asm, channels);
        emitScaled(asm, channels, WITHOUT_SUMS);
    }

    /**
     * The same for sums that are scaled already.
     *
     * @param channels registers of each channel's sums
     * @param free registers without sums, not r1
     */
    void emitScaled(AsmText asm, List<List<String>> channels, Free free) {
        RescaleCorrection correction = rescale.correction();
        if (correction.parameter().isPresent()) {
            asm.line("ldr %s, [sp, #%d]", free.third, SHIFT + Integer.BYTES);
        }
        for (List<String> sums : channels) {
            asm.line("ldm r1!, {%s, %s}", free.first, free.second);
            sums.forEach(sum -> asm.line("smmla %s, %s, %s, %s", sum, sum, free.first, free.second));
            for (int i = 0; i < correction.count(); i++) {
                asm.line("ldr %s, [r1], #4", free.first);
                correction.applyGiven(asm, sums, free.first, free.third, free.fourth);
            }
        }
        limit(asm, channels, free);
    }

    /** Whether instructions of 16 bits reach a register. */
    static boolean isLow(String register) {
        return register.compareTo("r8") < 0 && register.length() == 2;
    }

    /** Sets registers, of which the first one is low, to 0. */
    static void clear(AsmText asm, List<String> registers) {
        for (String register : registers) {
            if (isLow(register)) {
                asm.line("movs %s, #0", register);
            } else {
                asm.line("mov %s, %s", register, registers.get(0));
            }
        }
    }

    private static void scale(AsmText asm, List<List<String>> channels) {
        asm.line("ldr r12, [sp]");
        asm.line("lsr r12, #8");
        asm.line("sub r10, r12, #%d", FREE_BITS);
        for (int c = 0; c < channels.size(); c += 2) {
            List<String> first = channels.get(c);
            List<String> second = channels.get(c + 1);
            for (int i = 0; i < first.size(); i++) {
                // Setting flags takes two bytes fewer where both registers are low.
                String sub = isLow(first.get(i)) ? "subs" : "sub";
                asm.line("%s %s, %s, %s", sub, first.get(i), first.get(i), second.get(i));
                asm.line("lsl %s, r10", first.get(i));
                asm.line("lsl %s, r12", second.get(i));
            }
        }
    }

    private void limit(AsmText asm, List<List<String>> channels, Free free) {
        asm.line("ldr %s, [sp, #%d]", free.third, SHIFT);
        if (rescale.isLimited()) {
            int limits = SHIFT
                    + Integer.BYTES * (1 + (rescale.correction().parameter().isPresent() ? 1 : 0));
            asm.line("ldr %s, [sp, #%d]", free.first, limits);
            asm.line("ldr %s, [sp, #%d]", free.second, limits + Integer.BYTES);
        }
        channels.stream().flatMap(List::stream).forEach(value -> {
            asm.line("asr %s, %s", value, free.third);
            if (rescale.isLimited()) {
                asm.line("cmp %s, %s", value, free.first);
                asm.line("it lt");
                asm.line("movlt %s, %s", value, free.first);
                asm.line("cmp %s, %s", value, free.second);
                asm.line("it gt");
                asm.line("movgt %s, %s", value, free.second);
            } else {
                asm.line("ssat %s, #8, %s", value, value);
            }
        });
    }
}
