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
 * stack     constants, bytes to those of the next channel, limits, inputs, output, the last block's output[, minus products of inputs],
 *           callee-saved registers
 * </pre>
 *
 * <p>Four inputs and four channels are 17 instructions for 16 products, with {@link io.kiln.schedule.parts.CrossedProducts}: 1 LDR, 1 LDM of four words,
 * 2 SXTB16, 4 SXTAB16, 6 SMLAD; the bias of each channel takes the products of weights back. If weights are bytes, they are 23: 6 and 4 SXTB16, 8 SMLAD.
 *
 * @param isSummed whether two weights in a halfword are a sum, otherwise two bytes
 */
record SharedDenseKernel(boolean isSummed) {
    /** Channels of a block. */
    static final int BLOCK = 4;

    /** Bytes on the stack below the products of inputs. */
    private static final int KEPT = 28;

    private static final String ADD_PRODUCTS =
            "          products[pair] += next % 2 == 0 ? second * (int8_t)((uint32_t)w[2 + pair] >> (next / 2 * 16)) : 0;\n";

    private static final String DOUBLED =
            "2 * sums[channel] + (channel % 2 == 0 ? -products[channel / 2] >> 7 : 2 * products[channel / 2])";

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
                        .with("PRODUCTS_OF_INPUTS", isSummed ? productsOfInputs() : "")
                        .with("START", start())
                        .with("MULTIPLY", multiply())
                        .with("MULTIPLY_SECOND", multiplySecond())
                        .with("DIFFERENCE", difference())
                        .with("END", end())
                        .with("DECLARE_PRODUCTS", isSummed ? "    int32_t products[2] = {0};\n" : "")
                        .with("ADD_PRODUCTS", isSummed ? ADD_PRODUCTS : "")
                        .with("DOUBLED", isSummed ? DOUBLED : "2 * sums[channel]")
                        .with(
                                "BIASES",
                                isSummed ? "twice the biases less what products of weights add" : "twice the biases")
                        .text(),
                List.of());
    }

    /** Puts minus the sum of the products of neighbouring inputs on the stack; the first inputs are r4 bytes before r12. */
    private static String productsOfInputs() {
        AsmText asm = new AsmText();
        asm.line("movs r9, #0");
        asm.line("4:");
        asm.line("ldr r10, [r0]");
        asm.line("adds r0, #4");
        asm.line("sxtb16 r11, r10");
        asm.line("sxtb16 r10, r10, ror #8");
        asm.line("smlad r9, r10, r11, r9");
        asm.line("cmp r0, r12");
        asm.line("bls 4b");
        asm.line("sub r10, r0, r12");
        asm.line("mov r0, r12");
        asm.line("cmp r10, #4");
        asm.line("bne 4b");
        asm.line("subs r0, r0, r4");
        asm.line("rsb r9, r9, #0");
        asm.line("push {r9}");
        return asm.lines();
    }

    private String start() {
        AsmText asm = new AsmText();
        asm.line("movs r2, #0");
        asm.line("movs r4, #0");
        if (isSummed) {
            asm.line("ldr r3, [sp, #%d]", KEPT);
            asm.line("mov r5, r3");
        } else {
            asm.line("movs r3, #0");
            asm.line("movs r5, #0");
        }
        return asm.lines();
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

    /** Adds the products of the second channels of both pairs. */
    private String multiplySecond() {
        AsmText asm = new AsmText();
        for (int word = 0; word < BLOCK; word++) {
            String weights = "r" + (8 + word);
            if (isSummed) {
                asm.line("sxtab16 %s, %s, %s", weights, word < 2 ? "r6" : "r7", weights);
            } else {
                asm.line("sxtb16 %s, %s", weights, weights);
            }
        }
        if (isSummed) {
            asm.line("smlad r3, r8, r10, r3");
            asm.line("smlad r5, r9, r11, r5");
        } else {
            asm.line("smlad r3, r7, r8, r3");
            asm.line("smlad r5, r7, r9, r5");
            asm.line("smlad r3, r6, r10, r3");
            asm.line("smlad r5, r6, r11, r5");
        }
        return asm.lines();
    }

    /** Returns. */
    private String end() {
        AsmText asm = new AsmText();
        asm.line("add sp, #%d", isSummed ? KEPT + 4 : KEPT);
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
