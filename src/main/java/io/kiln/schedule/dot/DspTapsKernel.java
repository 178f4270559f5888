// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import io.kiln.base.DType;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.ArrayList;
import java.util.List;

/**
 * The dot products of {@link DspWideKernel} in assembly, for a known number of taps: the loads of a step follow each other, because a load
 * behind another one takes a cycle less on a Cortex-M4.
 *
 * <pre>
 * r0, r2   inputs of the pixels        r1       weights, two taps to a word
 * r3-r8    sums                        r9, r10  inputs          r11 r12 lr  weights
 * stack    sums[, end of the whole pairs], then r7 and r11
 * </pre>
 *
 * <p>A step of two taps, two pixels and three channels is 11 instructions for 12 products, 5 LDR and 6 SMLAD; 9 if the weights are loaded by
 * one LDM, which is no faster.
 *
 * @param pixels 1 or 2
 * @param taps of a dot product
 * @param unroll steps of two taps in the loop; up to twice as many need no loop
 * @param isMultiple whether the weights of a step are loaded together
 */
record DspTapsKernel(int pixels, int taps, int unroll, boolean isMultiple) {
    static final int CHANNELS = 3;

    private static final KernelText TEXT = KernelText.of("dsp/dot16_taps");
    private static final int SUMS = 3;
    private static final int WORDS = Integer.BYTES * CHANNELS;

    /** {@code (x0[, x1], w, sums)}, as {@link DotKernel#arguments} has them. */
    Kernel kernel(List<Pointer> pointers) {
        String name = "kiln_dot16_" + taps + "_" + pixels + "x" + CHANNELS + (isStraight() ? "" : "_unroll" + unroll)
                + (isMultiple ? "_multiple" : "");
        String second = pixels == 2 ? "const int16_t* x1, " : "";
        String definition = TEXT.with("TAPS", taps)
                .with("CHANNELS", CHANNELS)
                .with("NAME", name)
                .with("PARAMETERS", "const int16_t* x0, " + second + "const int32_t* w, int32_t* sums")
                .with("ASSEMBLY", assembly())
                .with("SECOND_SUMS", pixels == 2 ? "      sums[" + CHANNELS + " + c] += x1[i] * weight;\n" : "")
                .text();
        return new Kernel(name, pointers, List.<DType>of(), List.of(), definition, List.of());
    }

    private int pairs() {
        return taps / 2;
    }

    private boolean isStraight() {
        return pairs() <= 2 * unroll;
    }

    /** Steps before the loop. */
    private int first() {
        return isStraight() ? pairs() : pairs() % unroll;
    }

    private String assembly() {
        AsmText asm = new AsmText();
        String last = "r" + (SUMS + pixels * CHANNELS - 1);
        String sums = pixels == 2 ? "r3" : "r2";
        asm.line("push {r7, r11}");
        asm.line("mov r12, %s", sums);
        asm.add("lr", "r0", Integer.BYTES * pairs(), "r9");
        asm.line("push {r12, lr}");
        asm.line("ldmia r12, {r%d-%s}", SUMS, last);
        steps(asm, first());
        if (!isStraight()) {
            advance(asm, first());
            asm.line("2:");
            steps(asm, unroll);
            advance(asm, unroll);
            asm.line("ldr r9, [sp, #4]");
            asm.line("cmp r0, r9");
            asm.line("bne 2b");
        }
        if (taps % 2 != 0) {
            int done = isStraight() ? first() : 0;
            asm.repeatFrom(Integer.BYTES * done, 1, 1, () -> step(asm, "ldrsh"));
        }
        asm.line("ldr r12, [sp]");
        asm.line("stmia r12, {r%d-%s}", SUMS, last);
        asm.line("add sp, #8");
        asm.line("pop {r7, r11}");
        List<String> values = new ArrayList<>(List.of("x0", "w"));
        List<String> types = new ArrayList<>(List.of("const int16_t*", "const int32_t*"));
        if (pixels == 2) {
            values.add("x1");
            types.add("const int16_t*");
        }
        values.add("sums");
        types.add("int32_t*");
        return asm.statement(values, types, List.of("r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr"));
    }

    /** Advances the pointers past the steps. */
    private void advance(AsmText asm, int steps) {
        if (steps == 0) {
            return;
        }
        asm.line("add r0, #%d", Integer.BYTES * steps);
        if (pixels == 2) {
            asm.line("add r2, #%d", Integer.BYTES * steps);
        }
        if (!isMultiple) {
            asm.line("add r1, #%d", WORDS * steps);
        }
    }

    private void steps(AsmText asm, int count) {
        asm.repeatFrom(0, Integer.BYTES, count, () -> step(asm, "ldr"));
    }

    /** Two taps, or the last one alone, whose word of weights is 0 above it. */
    private void step(AsmText asm, String load) {
        asm.line(load + " r9, [r0, #%s]", AsmText.AT);
        if (pixels == 2) {
            asm.line(load + " r10, [r2, #%s]", AsmText.AT);
        }
        List<String> weights = List.of("r11", "r12", "lr");
        if (isMultiple) {
            asm.line("ldmia r1!, {r11, r12, lr}");
        } else {
            for (int c = 0; c < CHANNELS; c++) {
                asm.line("ldr %s, [r1, #%s * %d + %d]", weights.get(c), AsmText.AT, CHANNELS, Integer.BYTES * c);
            }
        }
        for (int s = 0; s < pixels * CHANNELS; s++) {
            asm.line("smlad r%d, r%d, %s, r%d", SUMS + s, 9 + s / CHANNELS, weights.get(s % CHANNELS), SUMS + s);
        }
    }
}
