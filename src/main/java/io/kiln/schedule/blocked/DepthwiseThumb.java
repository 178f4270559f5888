// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.ir.op.Window;
import io.kiln.lower.ProvenRescale;
import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.schedule.parts.ScalarRescale;
import java.util.List;
import java.util.stream.IntStream;

/**
 * {@link DepthwiseBlock} for Armv7-M. Five pixels of a 3x3 window with stride 1 are 103 instructions for 45 products: 30 LDRSB, 45 MUL and
 * MLA, 25 to rescale and store.
 *
 * <pre>
 * r0    inputs of a channel      r4 on    an input, weights of a window's row, sums; or inputs, a weight, sums;
 *                                         then multiplier, offset, lower half of a product
 * r1    weights                  lr       end of the channels
 * r2    constants
 * r3    output
 * </pre>
 */
final class DepthwiseThumb implements DepthwiseBlock.Assembly {
    private static final int INPUT = 4;
    private static final int MULTIPLIER = 4;
    private static final int OFFSET = 5;
    private static final int LOWER = 6;
    /** Registers from r4 to r12. */
    private static final int REGISTERS = 9;
    /** The rescaling needs registers for an input and at least this many weights. */
    private static final int LEAST_WEIGHTS = 2;

    /** Pixels of a block whose inputs stay in registers. */
    private static final int MOST_IN_TURN = 4;

    private static final int WEIGHT_IN_TURN = INPUT + MOST_IN_TURN;

    private static final int REACH = 4095;
    /** Furthest step of a store that advances its pointer. */
    private static final int ADVANCE = 255;

    private static final int FAR_REACH = 65_535;

    @Override
    public int mostPixels(Window window) {
        return inTurn(window) ? MOST_IN_TURN : Math.max(0, REGISTERS - 1 - Math.max(LEAST_WEIGHTS, window.kernelW()));
    }

    @Override
    public boolean suits(DepthwiseBlock block) {
        return block.place(block.kernelH() - 1, block.columns() - 1) <= FAR_REACH
                && block.pixels() * block.outputs() <= REACH
                && block.multiplier() <= ADVANCE;
    }

    @Override
    public String condition() {
        return AsmText.THUMB_2;
    }

    @Override
    public String lines(DepthwiseBlock block) {
        AsmText asm = new AsmText();
        asm.line("push {r4-r11, lr}");
        if (block.channels() <= 255) {
            asm.line("add lr, r0, #%d", block.channels());
        } else {
            asm.line("movw lr, #%d", block.channels());
            asm.line("add lr, r0");
        }
        asm.line("1:");
        for (int ky = 0; ky < block.kernelH(); ky++) {
            if (inTurn(block.window())) {
                rowInTurn(asm, block, ky);
            } else {
                row(asm, block, ky);
            }
        }
        rescale(asm, block);
        asm.line("cmp r0, lr");
        asm.line("bne 1b");
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    /** Whether inputs stay in registers in place of weights: windows that are wider than a block of pixels, side by side. */
    private static boolean inTurn(Window window) {
        return window.kernelW() > MOST_IN_TURN && window.strideW() == 1 && window.dilationW() == 1;
    }

    private static int weight(int kx) {
        return INPUT + 1 + kx;
    }

    private static int sum(DepthwiseBlock block, int pixel) {
        return inTurn(block.window())
                ? WEIGHT_IN_TURN + 1 + pixel
                : INPUT + 1 + Math.max(LEAST_WEIGHTS, block.kernelW()) + pixel;
    }

    /** Each input is loaded once, into the register of the one that no window needs any more. */
    private static void rowInTurn(AsmText asm, DepthwiseBlock block, int ky) {
        int last = block.pixels() - 1;
        for (int column = 0; column < last; column++) {
            load(asm, input(column), block.place(ky, column));
        }
        for (int kx = 0; kx < block.kernelW(); kx++) {
            asm.line("ldrsb r%d, [r1], #1", WEIGHT_IN_TURN);
            load(asm, input(kx + last), block.place(ky, kx + last));
            for (int p = 0; p < block.pixels(); p++) {
                multiply(asm, sum(block, p), input(kx + p), WEIGHT_IN_TURN, ky + kx == 0);
            }
        }
    }

    private static int input(int column) {
        return INPUT + column % MOST_IN_TURN;
    }

    private static void multiply(AsmText asm, int sum, int input, int weight, boolean isFirst) {
        if (isFirst) {
            asm.line("mul r%d, r%d, r%d", sum, input, weight);
        } else {
            asm.line("mla r%d, r%d, r%d, r%d", sum, input, weight, sum);
        }
    }

    /** Loads an input; the first load of a channel advances to the next one. */
    private static void load(AsmText asm, int register, int place) {
        int next = place - 1;
        if (next < 0) {
            asm.line("ldrsb r%d, [r0], #1", register);
        } else if (next <= REACH) {
            asm.line("ldrsb r%d, [r0, #%d]", register, next);
        } else {
            asm.line("movw r%d, #%d", register, next);
            asm.line("ldrsb r%d, [r0, r%d]", register, register);
        }
    }

    private static void row(AsmText asm, DepthwiseBlock block, int ky) {
        for (int kx = 0; kx < block.kernelW(); kx++) {
            asm.line("ldrsb r%d, [r1], #1", weight(kx));
        }
        for (int column = 0; column < block.columns(); column++) {
            if (!block.reads(column)) {
                continue;
            }
            load(asm, INPUT, block.place(ky, column));
            for (int p = 0; p < block.pixels(); p++) {
                int kx = block.tap(column, p);
                if (kx >= 0) {
                    multiply(asm, sum(block, p), INPUT, weight(kx), ky + kx == 0);
                }
            }
        }
    }

    private static void rescale(AsmText asm, DepthwiseBlock block) {
        ProvenRescale r = block.rescale().proven();
        asm.line("ldm r2!, {r%d, r%d}", MULTIPLIER, OFFSET);
        for (int p = 0; p < block.pixels(); p++) {
            int sum = sum(block, p);
            if (r.scaleBits() > 0) {
                asm.line("lsl r%d, r%d, #%d", sum, sum, r.scaleBits());
            }
            asm.line("smull r%d, r%d, r%d, r%d", LOWER, sum, sum, MULTIPLIER);
            asm.line("add r%d, r%d", sum, OFFSET);
        }
        correct(asm, block);
        for (int p = block.pixels() - 1; p >= 0; p--) {
            int sum = sum(block, p);
            limit(asm, block.rescale(), sum);
            String place = p == 0 ? "[r3], #" + block.multiplier() : "[r3, #" + p * block.outputs() + "]";
            asm.line("strb r%d, %s", sum, place);
        }
    }

    private static void correct(AsmText asm, DepthwiseBlock block) {
        RescaleCorrection correction = block.rescale().correction();
        List<String> sums = IntStream.range(0, block.pixels())
                .mapToObj(p -> "r" + sum(block, p))
                .toList();
        if (correction.isSigned()) {
            asm.line("ldr r%d, [r2], #4", MULTIPLIER);
            asm.line("movw r%d, #%d", OFFSET, correction.argument() & 0xFFFF);
            asm.line("movt r%d, #%d", OFFSET, correction.argument() >>> 16);
            correction.applyGiven(asm, sums, "r" + MULTIPLIER, "r" + OFFSET, "r" + LOWER);
            return;
        }
        for (int i = 0; i < correction.count(); i++) {
            asm.line("ldr r%d, [r2], #4", MULTIPLIER);
            correction.apply(asm, sums, "r" + MULTIPLIER, "r" + LOWER);
        }
    }

    private static void limit(AsmText asm, ScalarRescale rescale, int sum) {
        asm.line("ssat r%d, #8, r%d, asr #%d", sum, sum, rescale.proven().shift());
        if (rescale.low() > -128) {
            asm.line("cmp r%d, #%d", sum, rescale.low());
            asm.line("it lt");
            asm.line("movlt r%d, #%d", sum, rescale.low());
        }
        if (rescale.high() < 127) {
            asm.line("cmp r%d, #%d", sum, rescale.high());
            asm.line("it gt");
            asm.line("movgt r%d, #%d", sum, rescale.high());
        }
    }
}
