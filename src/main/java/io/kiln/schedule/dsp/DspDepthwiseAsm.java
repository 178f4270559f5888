// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import java.util.ArrayList;
import java.util.List;

/**
 * The assembly of {@link DspDepthwiseKernel}. For blocks of four channels, first {@link DspDepthwiseWidening} widens the input rows under
 * the windows into scratch, two rows to a word; then each channel slides its weights along them.
 *
 * <pre>
 * r0       scratch            r1       output
 * r2 r3    sums of both rows
 * r4-r9    weights, the last ones of these
 * r10 r11  multiplier, offset
 * r12 lr   inputs
 * stack    more constants of the channel (two), end of scratch, columns left, scratch, table, then what the caller needs back, output, input rows, blocks
 * </pre>
 *
 * <p>With a window of 3x3 and stride 1, two outputs of four channels are computed in 3 LDRD, 12 multiplies and 6 instructions to rescale
 * and store them.
 */
final class DspDepthwiseAsm {
    /** Largest number of unrolled columns. */
    static final int MOST_UNROLLED = 8;

    /** Largest number of bytes of scratch under a window. */
    static final int MOST_COLUMN_BYTES = 1020;

    private static final int LDRD_REACH = MOST_COLUMN_BYTES;
    static final int LDR_REACH = 4095;
    private static final int KEPT = 0;
    private static final int END = 8;
    private static final int COUNT = 12;
    static final int SCRATCH = 16;
    private static final int TABLE = 20;
    private static final int OUTPUT = 60;
    static final int INPUT_ROWS = 64;
    private static final int MULTIPLIER = 10;
    static final int WORD = 4;

    private final DspDepthwiseShape shape;
    private final int outputRows;
    private final int inputRows;
    private final DspDepthwiseEpilogue epilogue;
    private final AsmText text = new AsmText();

    private DspDepthwiseAsm(DspDepthwiseKernel kernel) {
        this.shape = kernel.shape();
        this.outputRows = kernel.rows();
        this.inputRows = shape.inputRows(outputRows);
        this.epilogue = kernel.epilogue();
    }

    /** The body of a naked function with the kernel's parameters. */
    static String of(DspDepthwiseKernel kernel) {
        DspDepthwiseAsm asm = new DspDepthwiseAsm(kernel);
        asm.enter();
        asm.text.line("1:");
        new DspDepthwiseWidening(asm.shape, asm.inputRows, asm.text).emit();
        asm.multiply();
        asm.nextBlock();
        asm.text.line("add sp, #24");
        asm.text.line("pop {r4-r11, pc}");
        return asm.text.lines();
    }

    /** Saves registers and converts offsets of input rows to addresses; rows outside the input become the padding. */
    private void enter() {
        text.line("push {r0-r11, lr}");
        text.line("sub sp, #8");
        for (int i = 0; i < inputRows; i++) {
            int slot = INPUT_ROWS + WORD * i;
            text.line("ldr r4, [sp, #%d]", slot);
            if (shape.padded()) {
                text.line("cmp r4, #0");
                text.line("ite lt");
                text.line("movlt r4, r1");
                text.line("addge r4, r0");
            } else {
                text.line("add r4, r0");
            }
            text.line("str r4, [sp, #%d]", slot);
        }
        text.line("add r4, r2, #%d", shape.columnBytes());
        text.line("str r4, [sp, #%d]", END);
    }

    private void multiply() {
        text.line("ldr r0, [sp, #%d]", SCRATCH);
        text.line("ldr r1, [sp, #%d]", OUTPUT);
        text.line("3:");
        text.line("ldr lr, [sp, #%d]", TABLE);
        text.line("ldm lr!, {r%d-r11}", MULTIPLIER - shape.weights());
        for (int i = 0; i < epilogue.kept(); i++) {
            text.line("ldr r2, [lr], #4");
            text.line("str r2, [sp, #%d]", KEPT + WORD * i);
        }
        text.line("str lr, [sp, #%d]", TABLE);
        int unroll = unroll();
        int moved = 0;
        if (unroll < shape.width()) {
            int rounds = shape.width() / unroll;
            text.line("mov r2, #%d", rounds);
            text.line("str r2, [sp, #%d]", COUNT);
            text.line("4:");
            outputs(unroll);
            text.line("add r0, #%d", unroll * shape.strideW() * shape.columnBytes());
            text.line("add r1, #%d", unroll * shape.channels());
            text.line("ldr r2, [sp, #%d]", COUNT);
            text.line("subs r2, #1");
            text.line("str r2, [sp, #%d]", COUNT);
            text.line("bne 4b");
            outputs(shape.width() % unroll);
            moved = rounds * unroll;
        } else {
            outputs(unroll);
        }
        advance("r0", shape.channelBytes() - moved * shape.strideW() * shape.columnBytes());
        advance("r1", 1 - moved * shape.channels());
        text.line("ldr r2, [sp, #%d]", END);
        text.line("cmp r0, r2");
        text.line("bne 3b");
    }

    private void advance(String register, int by) {
        if (Math.abs(by) <= LDR_REACH) {
            text.line("%s %s, #%d", by < 0 ? "sub" : "add", register, Math.abs(by));
        } else {
            text.line("movw r2, #%d", Math.abs(by) & 0xFFFF);
            text.line("movt r2, #%d", Math.abs(by) >>> 16);
            text.line("%s %s, r2", by < 0 ? "sub" : "add", register);
        }
    }

    /**
     * Number of unrolled outputs of a row: all of a short row, otherwise a number that divides the row if there is one.
     */
    private int unroll() {
        int reach = (LDRD_REACH - shape.kernelW() * shape.columnBytes()) / (shape.strideW() * shape.columnBytes()) + 1;
        int rowBelow = outputRows == 2 ? shape.width() * shape.channels() : 0;
        int most = Math.min(Math.min(MOST_UNROLLED, reach), (LDR_REACH - rowBelow) / shape.channels());
        if (shape.width() <= most) {
            return shape.width();
        }
        for (int unroll = most; unroll > most / 2; unroll--) {
            if (shape.width() % unroll == 0) {
                return unroll;
            }
        }
        return most;
    }

    private void outputs(int count) {
        for (int i = 0; i < count; i++) {
            sums(i * shape.strideW());
            finish(i * shape.channels());
        }
    }

    /** Sums of the window whose first column is the given one from r0 on. */
    private void sums(int column) {
        boolean[] started = new boolean[outputRows];
        for (int row = 0; row < outputRows && epilogue.hasBias(); row++) {
            text.line(row == 0 ? "ldr r2, [sp, #%d]" : "mov r3, r2", KEPT);
            started[row] = true;
        }
        for (int kx = 0; kx < shape.kernelW(); kx++) {
            int words = (inputRows + 1) / 2;
            for (int pair = 0; pair < words; pair += 2) {
                int place = (column + kx) * shape.columnBytes() + pair * WORD;
                boolean two = pair + 1 < words;
                text.line(two ? "ldrd r12, lr, [r0, #%d]" : "ldr r12, [r0, #%d]", place);
                products(kx, 2 * pair, "r12", started);
                if (two) {
                    products(kx, 2 * pair + 2, "lr", started);
                }
            }
        }
    }

    /** Products of a word, which holds an input row and the one below, with the weights of each output row. */
    private void products(int kx, int inputRow, String word, boolean[] started) {
        for (int row = 0; row < outputRows; row++) {
            int tap = inputRow - row * shape.strideH();
            int last = shape.kernelH() - 1;
            if (tap < -1 || tap > last) {
                continue;
            }
            String sum = "r" + (2 + row);
            if (tap >= 0 && tap < last) {
                product(started, row, "smuad", "smlad", sum, word, weight(kx, shape.wordOf(tap)));
            } else if (tap < 0) {
                product(started, row, "smultb", "smlatb", sum, word, weight(kx, 0));
            } else {
                String half = last == 0 ? "b" : "t";
                product(started, row, "smulb" + half, "smlab" + half, sum, word, weight(kx, shape.wordOfLast()));
            }
        }
    }

    private String weight(int kx, int word) {
        return "r" + (MULTIPLIER - shape.weights() + kx * shape.weightsPerColumn() + word);
    }

    private void product(boolean[] started, int row, String first, String next, String sum, String x, String w) {
        if (started[row]) {
            text.line("%s %s, %s, %s, %s", next, sum, x, w, sum);
        } else {
            text.line("%s %s, %s, %s", first, sum, x, w);
        }
        started[row] = true;
    }

    /** Rescales, limits and stores the sums. */
    private void finish(int offset) {
        List<String> sums = List.of("r2", "r3").subList(0, outputRows);
        List<String> places = new ArrayList<>();
        for (int row = 0; row < outputRows; row++) {
            places.add("[r1, #" + (offset + row * shape.width() * shape.channels()) + "]");
        }
        epilogue.store(text, sums, KEPT, places);
    }

    private void nextBlock() {
        int blocks = INPUT_ROWS + WORD * inputRows;
        text.line("str r1, [sp, #%d]", OUTPUT);
        text.line("ldr r2, [sp, #%d]", blocks);
        text.line("subs r2, #1");
        text.line("str r2, [sp, #%d]", blocks);
        text.line("bne 1b");
    }
}
