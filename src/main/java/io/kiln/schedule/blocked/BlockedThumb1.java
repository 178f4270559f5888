// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.schedule.parts.ScalarRescale;
import io.kiln.schedule.parts.Thumb1Rescale;
import java.util.stream.IntStream;

/**
 * {@link BlockedKernel} for Armv6-M, two pixels and two channels at a time. One MULS multiplies a weight by the inputs of both pixels,
 * {@code w * (a + 65536 * b)}; two such products lie within 16 bits each. Two taps are 22 instructions for 8 products: 2 LDM, 4 MULS, 8 to
 * take the weights from a word, 8 to add up. The sum of the whole words minus that of their upper halves is the sum of the lower halves.
 *
 * <pre>
 * r0       pairs of inputs                r4 r5      products of channels 0 and 1 in two taps
 * r1       weights                        r8 r9      channel 0: sums of words, of second pixels
 * r2 r6    pairs of two taps              r10 r11    channel 1
 * r3       weights of two taps            r12        half of 65536: rounds to the second pixel
 * r7       a weight, a product            lr         end of the pairs
 * stack    inputs, where to enter the loop or which channel is next, constants, output, callee-saved registers, then the arguments:
 *          taps (then the weights), channels, output's stride, scale, shift, what the correction needs, limits
 * </pre>
 *
 * @param packed whether weights come in pairs, two channels in a byte
 * @param unroll number of unrolled steps of two taps, a power of two
 */
record BlockedThumb1(boolean packed, int unroll) implements BlockedAssembly {
    /** Pixels of a block, and channels. */
    static final int SIZE = 2;

    private static final int ENTRY = 4;
    private static final int SECOND = 4;
    private static final int CONSTANTS = 8;
    private static final int OUT = 12;
    private static final int TAPS = 52;
    private static final int REST = 56;
    private static final int OUT_STRIDE = 60;
    private static final int SCALE = 64;
    private static final int SHIFT = 68;
    private static final int CORRECTION = 72;

    @Override
    public String condition() {
        return AsmText.THUMB_1;
    }

    @Override
    public String suffix(ScalarRescale rescale) {
        return Thumb1Rescale.of(rescale.proven()).suffix();
    }

    @Override
    public String lines(ScalarRescale rescale) {
        AsmText asm = new AsmText();
        enter(asm);
        asm.line("1:");
        asm.line("ldr r0, [sp]");
        asm.line("ldr r1, [sp, #%d]", TAPS);
        asm.line("movs r4, #0");
        IntStream.range(8, 12).forEach(sum -> asm.line("mov r%d, r4", sum));
        if (isSmall()) {
            asm.line("str r4, [sp, #%d]", SECOND);
        } else {
            asm.line("ldr r4, [sp, #%d]", ENTRY);
            asm.line("mov pc, r4");
            asm.line(".p2align 2");
        }
        asm.line("2:");
        asm.repeat(unroll, () -> {
            products(asm);
            sum(asm, 4, 8);
            sum(asm, 5, 10);
        });
        asm.line("cmp r0, lr");
        asm.line("bne 2b");
        asm.line("str r1, [sp, #%d]", TAPS);
        takeApart(asm);
        results(asm, rescale);
        leave(asm);
        return asm.lines();
    }

    private void results(AsmText asm, ScalarRescale rescale) {
        Thumb1Rescale product = Thumb1Rescale.of(rescale.proven());
        if (!product.isInParts()) {
            asm.line("ldr r0, [sp, #%d]", SCALE);
        }
        if (isSmall()) {
            channels(asm, rescale);
        } else {
            channel(asm, 0, rescale);
            asm.line("bne 5f");
            asm.line("b 6f");
            asm.line("5:");
            channel(asm, 1, rescale);
            asm.line("beq 6f");
        }
    }

    /** Whether both channels are rescaled by the same code, one after the other. */
    private boolean isSmall() {
        return unroll == 1;
    }

    private static void channels(AsmText asm, ScalarRescale rescale) {
        asm.line("8:");
        channel(asm, 0, rescale);
        asm.line("beq 6f");
        asm.line("ldr r4, [sp, #%d]", SECOND);
        asm.line("cmp r4, #0");
        asm.line("bne 5f");
        asm.line("movs r4, #1");
        asm.line("str r4, [sp, #%d]", SECOND);
        asm.line("mov r8, r10");
        asm.line("mov r9, r11");
        asm.line("b 8b");
        asm.line("5:");
    }

    private void enter(AsmText asm) {
        asm.line(".syntax unified");
        asm.line("push {r4-r7, lr}");
        for (int i = 0; i < 4; i++) {
            asm.line("mov r%d, r%d", 4 + i, 8 + i);
        }
        asm.line("push {r4-r7}");
        asm.line("push {r0-r3}");
        asm.line("ldr r4, [sp, #%d]", TAPS);
        asm.line("str r1, [sp, #%d]", TAPS);
        asm.line("lsls r5, r4, #2");
        asm.line("adds r5, r5, r0");
        asm.line("mov lr, r5");
        asm.line("movs r5, #128");
        asm.line("lsls r5, r5, #8");
        asm.line("mov r12, r5");
        if (isSmall()) {
            return;
        }
        asm.line("lsrs r4, r4, #1");
        asm.line("negs r4, r4");
        asm.line("movs r5, #%d", unroll - 1);
        asm.line("ands r4, r5");
        asm.line("movs r5, #%d", stepBytes());
        asm.line("muls r4, r5, r4");
        asm.line("adr r5, 2f");
        asm.line("adds r4, r4, r5");
        asm.line("str r4, [sp, #%d]", ENTRY);
    }

    private int stepBytes() {
        return packed ? 48 : 44;
    }

    /** The products of two taps. */
    private void products(AsmText asm) {
        asm.line("ldmia r0!, {r2, r6}");
        if (packed) {
            productsOfPairs(asm);
            return;
        }
        asm.line("ldmia r1!, {r3}");
        asm.line("sxtb r4, r3");
        asm.line("muls r4, r2, r4");
        asm.line("asrs r3, r3, #8");
        asm.line("sxtb r5, r3");
        asm.line("muls r5, r2, r5");
        asm.line("asrs r3, r3, #8");
        asm.line("sxtb r7, r3");
        asm.line("muls r7, r6, r7");
        asm.line("adds r4, r4, r7");
        asm.line("asrs r3, r3, #8");
        asm.line("muls r3, r6, r3");
        asm.line("adds r5, r5, r3");
    }

    /** The byte is {@code first + 16 * second}: its products are summed for the second channel, and later taken apart. */
    private static void productsOfPairs(AsmText asm) {
        asm.line("ldrh r3, [r1]");
        asm.line("adds r1, #2");
        asm.line("lsls r4, r3, #28");
        asm.line("asrs r4, r4, #28");
        asm.line("muls r4, r2, r4");
        asm.line("sxtb r5, r3");
        asm.line("muls r5, r2, r5");
        asm.line("lsls r7, r3, #20");
        asm.line("asrs r7, r7, #28");
        asm.line("muls r7, r6, r7");
        asm.line("adds r4, r4, r7");
        asm.line("sxth r3, r3");
        asm.line("asrs r3, r3, #8");
        asm.line("muls r3, r6, r3");
        asm.line("adds r5, r5, r3");
    }

    private static void sum(AsmText asm, int products, int sum) {
        asm.line("add r%d, r%d", sum, products);
        asm.line("add r%d, r12", products);
        asm.line("asrs r%d, r%d, #16", products, products);
        asm.line("add r%d, r%d", sum + 1, products);
    }

    /** First pixels, and second channels of pairs. */
    private void takeApart(AsmText asm) {
        for (int sum = 8; sum < 12; sum += 2) {
            asm.line("mov r4, r%d", sum);
            asm.line("mov r5, r%d", sum + 1);
            asm.line("lsls r5, r5, #16");
            asm.line("subs r4, r4, r5");
            asm.line("mov r%d, r4", sum);
        }
        for (int sum = 10; packed && sum < 12; sum++) {
            asm.line("mov r4, r%d", sum);
            asm.line("mov r5, r%d", sum - 2);
            asm.line("subs r4, r4, r5");
            asm.line("asrs r4, r4, #4");
            asm.line("mov r%d, r4", sum);
        }
    }

    /** Rescales and stores a channel, and compares the number of channels left with 0; r0 is the scale, if sums are scaled. */
    private static void channel(AsmText asm, int c, ScalarRescale rescale) {
        RescaleCorrection correction = rescale.correction();
        Thumb1Rescale product = Thumb1Rescale.of(rescale.proven());
        asm.line("ldr r7, [sp, #%d]", CONSTANTS);
        asm.line("ldr r1, [r7]");
        asm.line("ldr r3, [r7, #4]");
        product.split(asm);
        for (int p = 0; p < SIZE; p++) {
            asm.line("mov r4, r%d", 8 + 2 * c + p);
            if (!product.isInParts()) {
                asm.line("muls r4, r0, r4");
            }
            product.highWord(asm);
            asm.line("adds r4, r4, r3");
            if (correction.parameter().isPresent()) {
                asm.line("ldr r7, [sp, #%d]", CONSTANTS);
                correction.applyGivenOnThumb1(asm, "r7", CORRECTION);
            }
            asm.line("ldr r5, [sp, #%d]", SHIFT);
            asm.line("asrs r4, r5");
            limit(asm, rescale.isLimited(), CORRECTION + (correction.parameter().isPresent() ? 4 : 0));
            asm.line("ldr r6, [sp, #%d]", OUT);
            if (p == 0) {
                asm.line("strb r5, [r6]");
            } else {
                asm.line("ldr r7, [sp, #%d]", OUT_STRIDE);
                asm.line("strb r5, [r6, r7]");
            }
        }
        asm.line("adds r6, #1");
        asm.line("str r6, [sp, #%d]", OUT);
        asm.line("ldr r7, [sp, #%d]", CONSTANTS);
        asm.line("adds r7, #%d", 4 * correction.constants());
        asm.line("str r7, [sp, #%d]", CONSTANTS);
        asm.line("ldr r4, [sp, #%d]", REST);
        asm.line("subs r4, #1");
        asm.line("str r4, [sp, #%d]", REST);
    }

    /** Limits r4; the result is in r5. */
    private static void limit(AsmText asm, boolean limited, int limits) {
        if (!limited) {
            Thumb1Rescale.saturate(asm);
            return;
        }
        asm.line("ldr r5, [sp, #%d]", limits);
        asm.line("cmp r4, r5");
        asm.line("ble 7f");
        asm.line("ldr r5, [sp, #%d]", limits + 4);
        asm.line("cmp r4, r5");
        asm.line("bge 7f");
        asm.line("movs r5, r4");
        asm.line("7:");
    }

    private static void leave(AsmText asm) {
        asm.line("b 1b");
        asm.line("6:");
        asm.line("add sp, #16");
        asm.line("pop {r4-r7}");
        for (int i = 0; i < 4; i++) {
            asm.line("mov r%d, r%d", 8 + i, 4 + i);
        }
        asm.line("pop {r4-r7, pc}");
    }
}
