// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.CrossedProducts;
import io.kiln.schedule.parts.InputProducts;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * One row of inputs times blocks of up to eight channels, with Arm's DSP instructions and without scratch.
 *
 * <pre>
 * r0        inputs                          r1      weights ({@link DspWeights}), then the constants of the block's channels
 * r2  r3    256 * A + B, B                  r4 r5   256 * C + D, D      r6 r7   ...      r8 r9   ...
 * r10 r11   inputs 0 2, 1 3                 r12 lr  weights; later r12 is the output
 * stack     inputs, output, end of the output, end of the inputs[, products of inputs], then callee-saved registers[, late offset]
 * </pre>
 *
 * <p>Four inputs and eight channels are 35 instructions for 32 products: 9 LDR, 10 SXTB16, 16 SMLAD. Where weights are bytes,
 * blocks have four channels, and r6 and r7 hold the first channel's weights.
 *
 * <p>With {@link CrossedProducts} the same are 31 instructions: 9 LDR, 2 SXTB16, 8 SXTAB16, 12 SMLAD. The sums of unpacked weights then start at minus
 * the products of inputs and of weights.
 *
 * @param channels channels of a block, 1 to 8
 * @param inputs inputs, at least four
 * @param unroll steps of four inputs in the loop, if there are more than twice as many
 * @param isPaired whether two words of weights are loaded by one instruction, except behind the inputs: as fast as two on a Cortex-M4
 * @param isCrossed whether inputs are added to weights; each block of weights then begins with minus the products of each of {@link #crossed}
 * @param epilogue the rescaling of the sums
 */
record DspDenseKernel(int channels, int inputs, int unroll, boolean isPaired, boolean isCrossed, DspEpilogue epilogue) {
    private static final KernelText TEXT = KernelText.of("dsp/dense");
    private static final int INPUTS = 0;
    private static final int OUTPUT = 4;
    private static final int OUTPUT_END = 8;
    private static final int INPUTS_END = 12;
    private static final int PRODUCTS = 16;
    private static final int SAVED = 36;

    private String name() {
        String looped = isStraight() ? "" : "_unroll" + unroll;
        return "kiln_dense_" + channels + "_" + inputs + looped + (isPaired ? "_paired" : "")
                + (isCrossed ? "_crossed" : "") + epilogue.suffix();
    }

    /** {@code (x, w, out, blocks[, late])}. */
    Kernel kernel() {
        return epilogue.kernel(name(), 0, definition());
    }

    /**
     * Channels of a block whose sums are of unpacked weights: all of them, or the second of each two that are packed as sums.
     *
     * @param isSummed see {@link DspWeights}
     */
    static IntStream crossed(int channels, boolean isSummed) {
        return IntStream.range(0, channels).filter(c -> !isSummed || c % 2 == 1);
    }

    private List<String> crossedSums() {
        return crossed(channels, epilogue.range().isSummed())
                .mapToObj(c -> "r" + (2 + c))
                .toList();
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
                .with("FIRST_WORDS", isCrossed ? "for each sum of bytes minus products of its weights; per" : "per")
                .with(
                        "SKIP_FIRST_WORDS",
                        isCrossed
                                ? String.format(
                                        Locale.ROOT,
                                        "    w += %d;\n",
                                        crossedSums().size())
                                : "")
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
        asm.line("push {r0, r2, r3, r4%s}", isCrossed ? ", r12" : "");
        if (isCrossed) {
            multiplyInputs(asm);
        }
        asm.line("1:");
        if (isCrossed) {
            startCrossed(asm);
        }
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
        if (inputs % 4 > 0) {
            new InputProducts(inputs).loadRest(asm, "r11", isStraight() ? 4 * steps() : 0);
            asm.repeatFrom(0, 4, 1, () -> step(asm, false));
            asm.line("add r1, #%d", stepBytes());
        }
        finish(asm);
        return asm.lines();
    }

    /** Puts the sum of the products of neighbouring inputs on the stack. */
    private void multiplyInputs(AsmText asm) {
        new InputProducts(inputs).sum(asm);
        asm.line("ldr r0, [sp, #%d]", INPUTS);
        asm.line("str r12, [sp, #%d]", PRODUCTS);
    }

    /** Starts the sums of a block at minus the products. */
    private void startCrossed(AsmText asm) {
        List<String> sums = crossedSums();
        if (sums.size() == 1) {
            asm.line("ldr %s, [r1], #4", sums.get(0));
        } else {
            asm.line("ldm r1!, {%s}", String.join(", ", sums));
        }
        asm.line("ldr lr, [sp, #%d]", PRODUCTS);
        sums.forEach(sum -> asm.line("sub %s, %s, lr", sum, sum));
    }

    private void finish(AsmText asm) {
        int kept = isCrossed ? PRODUCTS + 4 : PRODUCTS;
        String late = "[sp, #" + (kept + SAVED) + "]";
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
        asm.line("add sp, #%d", kept);
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
            if (epilogue.range().isSummed()) {
                DspConvAsm.multiply(asm, starts, both, "r10", "r12");
                DspConvAsm.multiply(asm, false, both, "r11", "lr");
            } else {
                unpackedStep(asm, starts, both, List.of("r6", "r7"), ", ror #8");
            }
            if (!isAlone) {
                unpackedStep(asm, starts, second, List.of("r12", "lr"), "");
            }
        }
    }

    /**
     * Four inputs times the weights of one channel in r12 and lr.
     *
     * @param unpacked registers of the unpacked weights
     * @param rotation of the weights
     */
    private void unpackedStep(AsmText asm, boolean starts, String sum, List<String> unpacked, String rotation) {
        String low = unpacked.get(0);
        String high = unpacked.get(1);
        if (isCrossed) {
            asm.line("sxtab16 %s, r11, r12%s", low, rotation);
            asm.line("sxtab16 %s, r10, lr%s", high, rotation);
            DspConvAsm.multiply(asm, false, sum, low, high);
        } else {
            asm.line("sxtb16 %s, r12%s", low, rotation);
            asm.line("sxtb16 %s, lr%s", high, rotation);
            DspConvAsm.multiply(asm, starts, sum, "r10", low);
            DspConvAsm.multiply(asm, false, sum, "r11", high);
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
