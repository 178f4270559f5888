// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.ir.op.Window;
import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.schedule.parts.ScalarRescale;
import io.kiln.schedule.parts.Thumb1Rescale;
import io.kiln.schedule.parts.Thumb1Words;

/**
 * {@link DepthwiseBlock} for Armv6-M. Sums are in upper registers, which only additions and moves reach. A window up to three taps wide and four
 * rows high is written out: a row's weights stay in registers, and an input is loaded once for all windows it lies under. Of larger windows a
 * loop computes one row after the other, tap by tap, and loads an input for each product.
 *
 * <pre>
 * r0    inputs, one step of r2 before the next one         r8 on    sums
 * r1    weights                                            r12      channels of the output, unless it is the fifth sum
 * r2    elements from one load to the next                 lr       output
 * r3 on weights of a row; or a tap's weight, what leads to the next tap, rows left
 * r6 r7 an input, a product                                stack    constants, weights, end of the inputs, what the correction needs, inputs
 *
 * When values are rescaled: r0 r1 r2 parts of the multiplier, r3 offset, r4 value, r5 result.
 * </pre>
 */
final class DepthwiseThumb1 implements DepthwiseBlock.Assembly {
    private static final int MOST_PIXELS = 5;
    private static final int MOST_WRITTEN_ROWS = 4;
    private static final int MOST_WRITTEN_COLUMNS = 3;
    /** Wider windows are computed in loops. */
    private static final int MOST_COLUMNS = 9;

    private static final int WEIGHT = 3;
    private static final int SUM = 8;
    private static final int CONSTANTS = 0;
    private static final int WEIGHTS = 4;
    private static final int END = 8;
    private static final int CORRECTION = 12;
    private static final int INPUTS = 16;
    private static final int FRAME = 20;

    @Override
    public int mostPixels(Window window) {
        return window.kernelW() <= MOST_COLUMNS ? MOST_PIXELS : 0;
    }

    /** Whether all instructions, of two bytes each, reach the words behind the function. */
    @Override
    public boolean suits(DepthwiseBlock block) {
        return Short.BYTES * lines(block).lines().count() <= Thumb1Words.REACH;
    }

    @Override
    public String condition() {
        return AsmText.THUMB_1;
    }

    @Override
    public String lines(DepthwiseBlock block) {
        AsmText asm = new AsmText();
        Thumb1Words words = new Thumb1Words();
        enter(asm, block, words);
        asm.line("1:");
        if (isWrittenOut(block)) {
            window(asm, block, words);
        } else {
            rows(asm, block, words);
        }
        rescale(asm, block, words);
        asm.line("ldr r0, [sp, #%d]", INPUTS);
        asm.line("ldr r1, [sp, #%d]", WEIGHTS);
        words.load(asm, "r2", step(block));
        asm.line("ldr r7, [sp, #%d]", END);
        asm.line("cmp r0, r7");
        asm.line("beq 6f");
        asm.line("b 1b");
        asm.line("6:");
        asm.line("add sp, #%d", FRAME);
        asm.line("pop {r4-r7}");
        for (int i = 0; i < 4; i++) {
            asm.line("mov r%d, r%d", 8 + i, 4 + i);
        }
        asm.line("pop {r4-r7, pc}");
        words.emit(asm);
        return asm.lines();
    }

    private static boolean isWrittenOut(DepthwiseBlock block) {
        return block.kernelW() <= MOST_WRITTEN_COLUMNS && block.kernelH() <= MOST_WRITTEN_ROWS;
    }

    /** Elements from one load to the next: to the next column, or to the next pixel's. */
    private static int step(DepthwiseBlock block) {
        return block.channels() * (isWrittenOut(block) ? 1 : block.window().strideW());
    }

    private static void enter(AsmText asm, DepthwiseBlock block, Thumb1Words words) {
        asm.line(".syntax unified");
        asm.line("push {r4-r7, lr}");
        for (int i = 0; i < 4; i++) {
            asm.line("mov r%d, r%d", 4 + i, 8 + i);
        }
        asm.line("push {r4-r7}");
        asm.line("sub sp, #%d", FRAME);
        asm.line("str r2, [sp, #%d]", CONSTANTS);
        asm.line("mov lr, r3");
        words.load(asm, "r2", step(block));
        asm.line("subs r0, r0, r2");
        if (block.pixels() < MOST_PIXELS) {
            words.load(asm, "r4", block.outputs());
            asm.line("mov r12, r4");
        }
        words.load(asm, "r4", block.channels());
        asm.line("adds r4, r4, r0");
        asm.line("str r4, [sp, #%d]", END);
        RescaleCorrection correction = block.rescale().correction();
        if (correction.parameter().isPresent()) {
            words.load(asm, "r4", correction.argument());
            asm.line("str r4, [sp, #%d]", CORRECTION);
        }
    }

    /** All products of a channel of a small window. */
    private static void window(AsmText asm, DepthwiseBlock block, Thumb1Words words) {
        int back = (block.columns() - 1) * block.channels();
        for (int ky = 0; ky < block.kernelH(); ky++) {
            for (int kx = 0; kx < block.kernelW(); kx++) {
                weight(asm, WEIGHT + kx, ky * block.kernelW() + kx);
            }
            for (int column = 0; column < block.columns(); column++) {
                if (column > 0) {
                    asm.line("adds r0, r0, r2");
                }
                if (block.reads(column)) {
                    asm.line("ldrsb r6, [r0, r2]");
                    column(asm, block, ky, column);
                }
            }
            boolean isLast = ky == block.kernelH() - 1;
            advance(asm, words, (isLast ? 1 - (block.kernelH() - 1) * block.row() : block.row()) - back);
        }
        asm.line("adds r1, #%d", block.kernelH() * block.kernelW());
    }

    private static void weight(AsmText asm, int register, int offset) {
        asm.line("ldrb r%d, [r1, #%d]", register, offset);
        asm.line("sxtb r%d, r%d", register, register);
    }

    /** The products of the input in r6, the last of which takes its register. */
    private static void column(AsmText asm, DepthwiseBlock block, int ky, int column) {
        for (int p = 0; p < block.pixels(); p++) {
            int kx = block.tap(column, p);
            if (kx < 0) {
                continue;
            }
            boolean isLast = true;
            for (int next = p + 1; next < block.pixels(); next++) {
                isLast &= block.tap(column, next) < 0;
            }
            int product = isLast ? 6 : 7;
            if (!isLast) {
                asm.line("movs r7, r6");
            }
            asm.line("muls r%d, r%d, r%d", product, WEIGHT + kx, product);
            asm.line("%s r%d, r%d", ky + kx == 0 ? "mov" : "add", SUM + p, product);
        }
    }

    private static void advance(AsmText asm, Thumb1Words words, int elements) {
        words.load(asm, "r7", elements);
        asm.line("adds r0, r0, r7");
    }

    /** All products of a channel of a large window. */
    private static void rows(AsmText asm, DepthwiseBlock block, Thumb1Words words) {
        int back = (block.pixels() - 1) * step(block);
        int dilation = block.window().dilationW() * block.channels();
        asm.line("movs r7, #0");
        for (int p = 0; p < block.pixels(); p++) {
            asm.line("mov r%d, r7", SUM + p);
        }
        words.load(asm, "r4", dilation - back);
        asm.line("movs r5, #%d", block.kernelH());
        asm.line("2:");
        for (int kx = 0; kx < block.kernelW(); kx++) {
            if (kx > 0) {
                asm.line("adds r0, r0, r4");
            }
            weight(asm, WEIGHT, kx);
            for (int p = 0; p < block.pixels(); p++) {
                asm.line("ldrsb r6, [r0, r2]");
                asm.line("muls r6, r3, r6");
                asm.line("add r%d, r6", SUM + p);
                if (p < block.pixels() - 1) {
                    asm.line("adds r0, r0, r2");
                }
            }
        }
        advance(asm, words, block.row() - (block.kernelW() - 1) * dilation - back);
        asm.line("adds r1, #%d", block.kernelW());
        asm.line("subs r5, #1");
        asm.line("beq 4f");
        asm.line("b 2b");
        asm.line("4:");
        advance(asm, words, 1 - block.kernelH() * block.row());
    }

    private static void rescale(AsmText asm, DepthwiseBlock block, Thumb1Words words) {
        ScalarRescale rescale = block.rescale();
        RescaleCorrection correction = rescale.correction();
        Thumb1Rescale product = Thumb1Rescale.of(rescale.proven());
        asm.line("str r0, [sp, #%d]", INPUTS);
        asm.line("str r1, [sp, #%d]", WEIGHTS);
        asm.line("ldr r7, [sp, #%d]", CONSTANTS);
        asm.line("ldr r1, [r7]");
        asm.line("ldr r3, [r7, #4]");
        product.split(asm);
        for (int p = 0; p < block.pixels(); p++) {
            asm.line("mov r4, r%d", SUM + p);
            if (!product.isInParts() && rescale.proven().scaleBits() > 0) {
                asm.line("lsls r4, r4, #%d", rescale.proven().scaleBits());
            }
            product.highWord(asm);
            asm.line("adds r4, r4, r3");
            if (correction.parameter().isPresent()) {
                asm.line("ldr r7, [sp, #%d]", CONSTANTS);
                correction.applyGivenOnThumb1(asm, "r7", CORRECTION);
            }
            asm.line("asrs r4, r4, #%d", rescale.proven().shift());
            limit(asm, rescale, words);
            store(asm, block, words);
        }
        asm.line("ldr r7, [sp, #%d]", CONSTANTS);
        asm.line("adds r7, #%d", 4 * correction.constants());
        asm.line("str r7, [sp, #%d]", CONSTANTS);
        words.load(asm, "r7", block.multiplier() - block.pixels() * block.outputs());
        asm.line("add lr, r7");
    }

    private static void limit(AsmText asm, ScalarRescale rescale, Thumb1Words words) {
        if (!rescale.isLimited()) {
            Thumb1Rescale.saturate(asm);
            return;
        }
        words.load(asm, "r5", rescale.high());
        asm.line("cmp r4, r5");
        asm.line("bge 7f");
        words.load(asm, "r5", rescale.low());
        asm.line("cmp r4, r5");
        asm.line("ble 7f");
        asm.line("movs r5, r4");
        asm.line("7:");
    }

    /** Stores r5 for a pixel. */
    private static void store(AsmText asm, DepthwiseBlock block, Thumb1Words words) {
        asm.line("mov r6, lr");
        asm.line("strb r5, [r6]");
        if (block.pixels() < MOST_PIXELS) {
            asm.line("add lr, r12");
        } else {
            words.load(asm, "r7", block.outputs());
            asm.line("add lr, r7");
        }
    }
}
