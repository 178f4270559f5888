// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.List;

/**
 * One row of inputs times blocks of up to eight channels, with Arm's DSP instructions and without scratch.
 *
 * <pre>
 * r0        inputs                          r1      weights ({@link DspWeights}), then the constants of the block's channels
 * r2  r3    256 * A + B, B                  r4 r5   256 * C + D, D      r6 r7   ...      r8 r9   ...
 * r10 r11   inputs 0 2, 1 3                 r12 lr  weights; later r12 is the output
 * stack     inputs, output, end of the output, end of the inputs, then callee-saved registers[, late offset]
 * </pre>
 *
 * <p>Four inputs and eight channels are 35 instructions for 32 products: 9 LDR, 10 SXTB16, 16 SMLAD. Where weights are bytes,
 * blocks have four channels, and r6 and r7 hold the first channel's weights.
 *
 * @param channels channels of a block, 1 to 8
 * @param inputs inputs, at least four
 * @param unroll steps of four inputs in the loop, if there are more than twice as many
 * @param isPaired whether two words of weights are loaded by one instruction, except behind the inputs: as fast as two on a Cortex-M4
 * @param epilogue the rescaling of the sums
 */
record DspDenseKernel(int channels, int inputs, int unroll, boolean isPaired, DspEpilogue epilogue) {
    private static final KernelText TEXT = KernelText.of("dsp/dense");
    private static final int INPUTS = 0;
    private static final int OUTPUT = 4;
    private static final int OUTPUT_END = 8;
    private static final int INPUTS_END = 12;
    private static final int LATE = 52;

    private String name() {
        String looped = isStraight() ? "" : "_unroll" + unroll;
        return "kiln_dense_" + channels + "_" + inputs + looped + (isPaired ? "_paired" : "") + epilogue.suffix();
    }

    /** {@code (x, w, out, blocks[, late])}. */
    Kernel kernel() {
        return epilogue.kernel(name(), 0, definition());
    }

    private int steps() {
        return inputs / 4;
    }

    private boolean isStraight() {
        return steps() <= 2 * unroll;
    }

    /** Steps before the loop. */
    private int first() {
        return isStraight() ? steps() : (steps() - 1) % unroll + 1;
    }

    private int pairs() {
        return (channels + 1) / 2;
    }

    private String definition() {
        return epilogue.headOfPairs(TEXT)
                .with("NAME", name())
                .with("UNUSED_PARAMETERS", DspConvKernel.unused(epilogue.kernelParameters()))
                .with("PARAMETERS", String.join(", ", epilogue.kernelParameters()))
                .with("INPUTS", inputs)
                .with("CHANNELS", channels)
                .with("PAIRS", pairs())
                .with("EVEN_CHANNELS", 2 * pairs())
                .with("BLOCK_WORDS", (inputs + 3) / 4 * 2 * pairs())
                .with("ASSEMBLY", assembly())
                .with("RESCALE", epilogue.twin("      ", "sums[channel]"))
                .text();
    }

    private String assembly() {
        AsmText asm = new AsmText();
        asm.line("push {r4-r11, lr}");
        asm.line("mov r4, #%d", channels);
        asm.line("mla r3, r3, r4, r2");
        asm.add("r4", "r0", 4 * steps(), "r5");
        asm.line("push {r0, r2, r3, r4}");
        asm.line("1:");
        steps(asm, true, 0, 1);
        steps(asm, false, 1, first() - 1);
        asm.line("add r1, #%d", stepBytes() * first());
        if (!isStraight()) {
            asm.line("add r0, #%d", 4 * first());
            asm.line("2:");
            steps(asm, false, 0, unroll);
            asm.line("ldr r10, [sp, #%d]", INPUTS_END);
            asm.line("add r0, #%d", 4 * unroll);
            asm.line("add r1, #%d", stepBytes() * unroll);
            asm.line("cmp r0, r10");
            asm.line("bne 2b");
        }
        int rest = inputs % 4;
        if (rest > 0) {
            asm.line("ldr r11, [r0, #%d]", (isStraight() ? 4 * steps() : 0) + rest - 4);
            asm.line("lsr r11, #%d", 8 * (4 - rest));
            asm.repeatFrom(0, 4, 1, () -> step(asm, false));
            asm.line("add r1, #%d", stepBytes());
        }
        finish(asm);
        return asm.lines();
    }

    private void finish(AsmText asm) {
        String late = "[sp, #" + LATE + "]";
        for (int c = 0; c < channels; c += 2) {
            List<String> sum = List.of("r" + (2 + c));
            if (c + 1 == channels) {
                epilogue.rescale(asm, new DspEpilogue.Sums(sum, List.of(), false), late);
            } else {
                List<String> second = List.of("r" + (3 + c));
                DspEpilogue.Sums first = new DspEpilogue.Sums(sum, second, false);
                epilogue.rescaleTwo(asm, first, new DspEpilogue.Sums(second, List.of(), true), late);
            }
        }
        asm.line("ldr r12, [sp, #%d]", OUTPUT);
        for (int c = channels - 1; c > 0; c--) {
            asm.line("strb r%d, [r12, #%d]", 2 + c, c);
        }
        asm.line("strb r2, [r12], #%d", channels);
        asm.line("str r12, [sp, #%d]", OUTPUT);
        asm.line("ldr r10, [sp, #%d]", OUTPUT_END);
        if (!isStraight()) {
            asm.line("ldr r0, [sp, #%d]", INPUTS);
        }
        asm.line("cmp r12, r10");
        asm.line("bne 1b");
        asm.line("add sp, #16");
        asm.line("pop {r4-r11, pc}");
    }

    /** Bytes of the weights of four inputs. */
    private int stepBytes() {
        return 8 * pairs();
    }

    /** Steps of four inputs, which are loaded beside the weights of the first pair. */
    private void steps(AsmText asm, boolean starts, int from, int count) {
        asm.repeatFrom(4 * from, 4, count, () -> {
            asm.line("ldr r11, [r0, #%s]", AsmText.AT);
            step(asm, starts);
        });
    }

    /** Four inputs in r11; the first step of a block starts the sums. */
    private void step(AsmText asm, boolean starts) {
        loadPair(asm, 0);
        asm.line("sxtb16 r10, r11");
        asm.line("sxtb16 r11, r11, ror #8");
        for (int pair = 0; pair < pairs(); pair++) {
            boolean isAlone = 2 * pair + 1 == channels;
            String both = "r" + (2 + 2 * pair);
            String second = "r" + (3 + 2 * pair);
            if (pair > 0) {
                loadPair(asm, pair);
            }
            if (!epilogue.range().isSummed()) {
                asm.line("sxtb16 r6, r12, ror #8");
                asm.line("sxtb16 r7, lr, ror #8");
                DspConvAsm.multiply(asm, starts, both, "r10", "r6");
                DspConvAsm.multiply(asm, false, both, "r11", "r7");
            } else {
                DspConvAsm.multiply(asm, starts, both, "r10", "r12");
                DspConvAsm.multiply(asm, false, both, "r11", "lr");
            }
            if (!isAlone) {
                asm.line("sxtb16 r12, r12");
                asm.line("sxtb16 lr, lr");
                DspConvAsm.multiply(asm, starts, second, "r10", "r12");
                DspConvAsm.multiply(asm, false, second, "r11", "lr");
            }
        }
    }

    /** Weights of two channels, at {@code pairs * 2} times the offset of the inputs. */
    private void loadPair(AsmText asm, int pair) {
        if (isPaired && pair > 0) {
            asm.line("ldrd r12, lr, [r1, #%s * %d + %d]", AsmText.AT, 2 * pairs(), 8 * pair);
            return;
        }
        asm.line("ldr r12, [r1, #%s * %d + %d]", AsmText.AT, 2 * pairs(), 8 * pair);
        asm.line("ldr lr, [r1, #%s * %d + %d]", AsmText.AT, 2 * pairs(), 8 * pair + 4);
    }
}
