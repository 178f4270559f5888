// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.shared;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;

/**
 * Any row of inputs times blocks of four channels on Cortex-M with the DSP extension; the text has what does not depend on how weights are packed.
 *
 * <pre>
 * r0        inputs                               r1        weights, then the block's biases
 * r2 r3     256 * A + B, or A; B                 r4 r5     256 * C + D, or C; D
 * r6 r7     inputs 1 3, 0 2                      r8 to r11 weights
 * r12       the last four inputs                 lr        a channel's weights if they are bytes; later the output
 * stack     constants, bytes to those of the next channel, limits, inputs, output, the last block's output, callee-saved registers
 * </pre>
 *
 * <p>Four inputs and four channels are 19 instructions for 16 products: 1 LDR, 1 LDM of four words, 2 and 4 SXTB16, 8 SMLAD; 4 more if weights are bytes.
 *
 * @param isSummed whether two weights in a halfword are a sum, otherwise two bytes
 */
record SharedDenseKernel(boolean isSummed) {
    /** Channels of a block. */
    static final int BLOCK = 4;

    private static final KernelText TEXT = KernelText.of("dsp/shared_dense");

    /** {@code (x, w, layer, out)}. */
    Kernel kernel() {
        String name = isSummed ? "kiln_dense" : "kiln_dense_bytes";
        return new Kernel(
                name,
                List.of(Pointer.in(INT8), Pointer.in(INT32), Pointer.in(INT32), Pointer.out(INT8)),
                List.of(),
                List.of(),
                TEXT.with("NAME", name)
                        .with("HALFWORDS", isSummed ? "256 * first + second" : "first and second as bytes")
                        .with("FIRST_WEIGHT", isSummed ? "(both - second) / 256" : "(int8_t)(both >> 8)")
                        .with("MULTIPLY", multiply())
                        .with("DIFFERENCE", difference())
                        .text(),
                List.of());
    }

    /** Adds the products of the first channels of both pairs. */
    private String multiply() {
        AsmText asm = new AsmText();
        for (int word = 0; word < BLOCK; word++) {
            String inputs = word < 2 ? "r7" : "r6";
            String weights = "r" + (8 + word);
            String sum = word % 2 == 0 ? "r2" : "r4";
            if (!isSummed) {
                asm.line("sxtb16 lr, %s, ror #8", weights);
            }
            asm.line("smlad %s, %s, %s, %s", sum, inputs, isSummed ? weights : "lr", sum);
        }
        return asm.lines();
    }

    /** Scales the first channels' sums by 2 and adds their biases. */
    private String difference() {
        AsmText asm = new AsmText();
        if (isSummed) {
            asm.line("subs r2, r2, r3");
            asm.line("subs r4, r4, r5");
        }
        asm.line("add r2, r6, r2, %s", isSummed ? "asr #7" : "lsl #1");
        asm.line("add r4, r8, r4, %s", isSummed ? "asr #7" : "lsl #1");
        return asm.lines();
    }
}
