// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.base.DType;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;

/**
 * Puts inputs of two pixels into words, {@code first + 65536 * second}, for {@link BlockedThumb1}: 6 instructions for a word. Pointers:
 * inputs of the first pixel, of the second, words.
 *
 * @param count number of words
 */
record PairedInputs(int count) {
    private static final KernelText TEXT = KernelText.of("thumb/pair_inputs");

    private static final String INPUTS = "[first] \"l\"(first), [second] \"l\"(second)";

    /** Words between two tests for the end. */
    private static final int UNROLL = 4;

    Kernel kernel() {
        String name = "kiln_pair_inputs_" + count;
        return new Kernel(
                name,
                List.of(Pointer.in(DType.INT8), Pointer.in(DType.INT8), Pointer.out(DType.INT32)),
                List.of(),
                List.of(),
                TEXT.with("NAME", name)
                        .with("COUNT", count)
                        .with("ASSEMBLY", lines())
                        .with("INPUTS", whole() > UNROLL ? INPUTS + ", [end] \"r\"(pairs + " + whole() + ")" : INPUTS)
                        .text(),
                List.of());
    }

    private String lines() {
        AsmText asm = new AsmText();
        int whole = whole();
        if (whole > UNROLL) {
            asm.line("1:");
        }
        words(asm, Math.min(whole, UNROLL));
        if (whole > UNROLL) {
            asm.line("cmp %[pairs], %[end]");
            asm.line("bne 1b");
        }
        words(asm, count - whole);
        return asm.lines();
    }

    /** Words in whole steps of the loop. */
    private int whole() {
        return count / UNROLL * UNROLL;
    }

    /** Written out, because compilers estimate from the lines how far branches and loads over this code reach. */
    private static void words(AsmText asm, int words) {
        for (int i = 0; i < words; i++) {
            asm.line("ldrsb %[b], [%[second], %[i]]");
            asm.line("ldrsb %[a], [%[first], %[i]]");
            asm.line("adds %[i], #1");
            asm.line("lsls %[b], %[b], #16");
            asm.line("adds %[b], %[b], %[a]");
            asm.line("stmia %[pairs]!, {%[b]}");
        }
    }
}
