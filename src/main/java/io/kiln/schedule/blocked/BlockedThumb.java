// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.schedule.parts.ScalarRescale;
import java.util.List;
import java.util.Optional;

/**
 * {@link BlockedKernel} for Armv7-M, two pixels and four channels at a time. A step is 14 instructions for 8 products:
 * 6 LDRSB, 8 MLA. The first step only multiplies; it then jumps into the unrolled loop at the place that gives the
 * right number of steps.
 *
 * <pre>
 * r0 r1    inputs of both pixels          r4 to r7   sums of channel 0, both pixels, and channel 1
 * r2       weights                        r8 to r11  sums of channels 2 and 3
 * r3 r12   the inputs of a step           lr         a weight
 * stack    inputs of both pixels, constants, output, callee-saved registers, then the arguments:
 *          taps (then the end of the inputs), channels, stride (then where to enter the loop), output's stride, scale, shift,
 *          what the correction needs, limits
 * </pre>
 *
 * @param packed whether weights come in pairs: 2 LDRSB of a step then become 2 SBFX
 * @param weightPairs pairs in words; 4 LDRSB and 8 MLA of a step then become 2 LDR and 4 SMLAL
 */
record BlockedThumb(boolean packed, Optional<WeightPairs> weightPairs) implements BlockedAssembly {
    private static final int PIXELS = 2;
    private static final int CHANNELS = 4;
    private static final int UNROLL = 8;
    private static final int STEP_BYTES = 56;
    private static final int STEP_BYTES_OF_PAIRS = 32;
    private static final int SECOND_INPUT = 4;
    private static final int CONSTANTS = 8;
    private static final int OUT = 12;
    /** Stack offset of the number of taps, then of the end of the first pixel's inputs. */
    static final int TAPS = 52;

    private static final int REST = 56;
    private static final int STRIDE = 60;
    private static final int OUT_STRIDE = 64;
    private static final int SCALE = 68;
    private static final int SHIFT = 72;
    private static final int CORRECTION = 76;

    @Override
    public String condition() {
        return AsmText.THUMB_2;
    }

    @Override
    public String lines(ScalarRescale rescale) {
        RescaleCorrection correction = rescale.correction();
        boolean limited = rescale.isLimited();
        AsmText asm = new AsmText();
        enter(asm, weightPairs.isPresent() ? STEP_BYTES_OF_PAIRS : STEP_BYTES);
        asm.line("1:");
        step(asm, true);
        asm.line("ldr pc, [sp, #%d]", STRIDE);
        asm.line("2:");
        asm.repeat(UNROLL, () -> step(asm, false));
        asm.line("3:");
        asm.line("ldr r3, [sp, #%d]", TAPS);
        asm.line("cmp r0, r3");
        asm.line("bne 2b");
        if (packed) {
            takeApart(asm);
        }
        weightPairs.ifPresent(pairs -> takeApart(asm, pairs));
        finish(asm, correction, limited, "ldrd r0, r1, [sp]");
        return asm.lines();
    }

    /**
     * Rescales and stores the sums of a block of channels, and continues at label 1 with the next block.
     *
     * @param again loads the inputs' addresses from the stack
     */
    static void finish(AsmText asm, RescaleCorrection correction, boolean limited, String again) {
        rescale(asm, correction);
        limit(asm, limited, CORRECTION + (correction.parameter().isPresent() ? 4 : 0));
        store(asm, again);
    }

    private static void enter(AsmText asm, int stepBytes) {
        asm.line("push {r0-r11, lr}");
        asm.line("mov r2, r1");
        asm.line("ldr r4, [sp, #%d]", TAPS);
        asm.line("ldr r5, [sp, #%d]", STRIDE);
        asm.line("add r1, r0, r5");
        asm.line("str r1, [sp, #%d]", SECOND_INPUT);
        asm.line("add r5, r0, r4");
        asm.line("str r5, [sp, #%d]", TAPS);
        asm.line("sub r4, #1");
        asm.line("and r4, #%d", UNROLL - 1);
        asm.line("mov r5, #%d", stepBytes);
        asm.line("mul r4, r4, r5");
        asm.line("adr.w r5, 3f");
        asm.line("sub r5, r4");
        asm.line("orr r5, #1");
        asm.line("str r5, [sp, #%d]", STRIDE);
    }

    private void step(AsmText asm, boolean first) {
        asm.line("ldrsb r3, [r0], #1");
        asm.line("ldrsb r12, [r1], #1");
        if (weightPairs.isPresent()) {
            stepOfPairs(asm, first ? "smull" : "smlal");
            return;
        }
        for (int i = 0; i < CHANNELS; i++) {
            int c = packed ? i ^ 1 : i;
            asm.line(packed && i % 2 != 0 ? "sbfx lr, lr, #0, #4" : "ldrsb lr, [r2], #1");
            for (int p = 0; p < PIXELS; p++) {
                int sum = sum(c, p);
                String input = p == 0 ? "r3" : "r12";
                if (first) {
                    asm.line("mul r%d, %s, lr", sum, input);
                } else {
                    asm.line("mla r%d, %s, lr, r%d", sum, input, sum);
                }
            }
        }
    }

    private static void stepOfPairs(AsmText asm, String instruction) {
        for (int c = 0; c < CHANNELS; c += 2) {
            asm.line("ldr lr, [r2], #4");
            for (int p = 0; p < PIXELS; p++) {
                asm.line("%s r%d, r%d, %s, lr", instruction, sum(c, p), sum(c + 1, p), p == 0 ? "r3" : "r12");
            }
        }
    }

    private static void takeApart(AsmText asm, WeightPairs pairs) {
        for (int c = 0; c < CHANNELS; c += 2) {
            for (int p = 0; p < PIXELS; p++) {
                PairSumsThumb2.takeApart(asm, pairs, sum(c, p), sum(c + 1, p));
            }
        }
    }

    /** Second sums; the register holds {@code first + 16 * second} so far. */
    private static void takeApart(AsmText asm) {
        for (int c = 1; c < CHANNELS; c += 2) {
            for (int p = 0; p < PIXELS; p++) {
                asm.line("sub r%d, r%d", sum(c, p), sum(c - 1, p));
                asm.line("asr r%d, #4", sum(c, p));
            }
        }
    }

    /** Register of a sum. */
    static int sum(int channel, int pixel) {
        return 4 + PIXELS * channel + pixel;
    }

    private static void rescale(AsmText asm, RescaleCorrection correction) {
        asm.line("ldr r12, [sp, #%d]", SCALE);
        asm.line("ldr r0, [sp, #%d]", CONSTANTS);
        for (int sum = sum(0, 0); sum <= sum(CHANNELS - 1, 1); sum++) {
            asm.line("mul r%d, r%d, r12", sum, sum);
        }
        if (correction.parameter().isPresent()) {
            asm.line("ldr r12, [sp, #%d]", CORRECTION);
        }
        for (int c = 0; c < CHANNELS; c++) {
            asm.line("ldm r0!, {r1, r3}");
            for (int p = 0; p < PIXELS; p++) {
                asm.line("smull lr, r%d, r%d, r1", sum(c, p), sum(c, p));
                asm.line("add r%d, r3", sum(c, p));
            }
            for (int i = 0; i < correction.count(); i++) {
                asm.line("ldr r1, [r0], #4");
                correction.applyGiven(asm, List.of("r" + sum(c, 0), "r" + sum(c, 1)), "r1", "r12", "lr");
            }
        }
        asm.line("str r0, [sp, #%d]", CONSTANTS);
    }

    private static void limit(AsmText asm, boolean limited, int limits) {
        asm.line("ldr r12, [sp, #%d]", SHIFT);
        if (limited) {
            asm.line("ldr r0, [sp, #%d]", limits);
            asm.line("ldr r1, [sp, #%d]", limits + 4);
        }
        for (int sum = sum(0, 0); sum <= sum(CHANNELS - 1, 1); sum++) {
            asm.line("asr r%d, r12", sum);
            if (limited) {
                asm.line("cmp r%d, r0", sum);
                asm.line("it lt");
                asm.line("movlt r%d, r0", sum);
                asm.line("cmp r%d, r1", sum);
                asm.line("it gt");
                asm.line("movgt r%d, r1", sum);
            } else {
                asm.line("ssat r%d, #8, r%d", sum, sum);
            }
        }
    }

    /** Stores the existing channels, and continues while there are more. */
    private static void store(AsmText asm, String again) {
        asm.line("ldr r3, [sp, #%d]", OUT);
        asm.line("ldr r12, [sp, #%d]", OUT_STRIDE);
        asm.line("ldr lr, [sp, #%d]", REST);
        asm.line("subs lr, #%d", CHANNELS);
        asm.line("blt 4f");
        for (int c = 0; c < CHANNELS; c++) {
            store(asm, c);
        }
        asm.line("beq 5f");
        asm.line("str r3, [sp, #%d]", OUT);
        asm.line("str lr, [sp, #%d]", REST);
        asm.line(again);
        asm.line("b 1b");
        asm.line("4:");
        for (int c = 0; c < CHANNELS - 1; c++) {
            store(asm, c);
            if (c < CHANNELS - 2) {
                asm.line("adds lr, #%d", c == 0 ? CHANNELS - 1 : -1);
                asm.line("beq 5f");
            }
        }
        asm.line("5:");
        asm.line("add sp, #16");
        asm.line("pop {r4-r11, pc}");
    }

    private static void store(AsmText asm, int channel) {
        asm.line("strb r%d, [r3, r12]", sum(channel, 1));
        asm.line("strb r%d, [r3], #1", sum(channel, 0));
    }
}
