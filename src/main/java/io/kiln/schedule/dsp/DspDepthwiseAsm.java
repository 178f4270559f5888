// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

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
 * stack    more constants of the channel (two)[, outputs of the channel left], end of scratch, columns left, scratch, table, then callee-saved registers, output, input rows, blocks
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
    private static final int REPEATS = 8;
    private static final int END = 8;
    private static final int COUNT = 12;
    private static final int SCRATCH = 16;
    private static final int TABLE = 20;
    private static final int OUTPUT = 60;
    private static final int INPUT_ROWS = 64;
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
        new DspDepthwiseWidening(
                        asm.shape, asm.inputRows, kernel.isPaired(), asm.slot(INPUT_ROWS), asm.slot(SCRATCH), asm.text)
                .emit();
        asm.multiply();
        asm.nextBlock();
        asm.text.line("add sp, #%d", asm.slot(24));
        asm.text.line("pop {r4-r11, pc}");
        return asm.text.lines();
    }

    /** A place on the stack, behind that of the outputs left if there is one. */
    private int slot(int place) {
        return place + (shape.multiplier() > 1 ? WORD : 0);
    }

    /** Saves registers and converts offsets of input rows to addresses; rows outside the input become the padding. */
    private void enter() {
        text.line("push {r0-r11, lr}");
        text.line("sub sp, #%d", slot(8));
        for (int i = 0; i < inputRows; i++) {
            int slot = slot(INPUT_ROWS) + WORD * i;
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
        text.line("str r4, [sp, #%d]", slot(END));
    }

    private void multiply() {
        text.line("ldr r0, [sp, #%d]", slot(SCRATCH));
        text.line("ldr r1, [sp, #%d]", slot(OUTPUT));
        if (shape.multiplier() > 1) {
            text.line("mov r2, #%d", shape.multiplier());
            text.line("str r2, [sp, #%d]", REPEATS);
        }
        text.line("3:");
        text.line("ldr lr, [sp, #%d]", slot(TABLE));
        text.line("ldm lr!, {r%d-r11}", MULTIPLIER - shape.weights());
        for (int i = 0; i < epilogue.kept(); i++) {
            text.line("ldr r2, [lr], #4");
            text.line("str r2, [sp, #%d]", KEPT + WORD * i);
        }
        text.line("str lr, [sp, #%d]", slot(TABLE));
        int unroll = unroll();
        int moved = 0;
        if (unroll < shape.width()) {
            int rounds = shape.width() / unroll;
            text.line("mov r2, #%d", rounds);
            text.line("str r2, [sp, #%d]", slot(COUNT));
            text.line("4:");
            outputs(unroll);
            text.line("add r0, #%d", unroll * shape.strideW() * shape.columnBytes());
            text.line("add r1, #%d", unroll * shape.outputs());
            text.line("ldr r2, [sp, #%d]", slot(COUNT));
            text.line("subs r2, #1");
            text.line("str r2, [sp, #%d]", slot(COUNT));
            text.line("bne 4b");
            outputs(shape.width() % unroll);
            moved = rounds * unroll;
        } else {
            outputs(unroll);
        }
        nextChannel(moved);
        text.line("ldr r2, [sp, #%d]", slot(END));
        text.line("cmp r0, r2");
        text.line("bne 3b");
    }

    /**
     * Goes on to the next channel.
     *
     * @param moved columns of the output by which the addresses have advanced
     */
    private void nextChannel(int moved) {
        int back = moved * shape.strideW() * shape.columnBytes();
        boolean isSingle = shape.multiplier() == 1;
        advance("r0", (isSingle ? shape.channelBytes() : 0) - back);
        advance("r1", 1 - moved * shape.outputs());
        if (!isSingle) {
            text.line("ldr r2, [sp, #%d]", REPEATS);
            text.line("subs r2, #1");
            text.line("itt eq");
            text.line("moveq r2, #%d", shape.multiplier());
            text.line("addeq r0, #%d", shape.channelBytes());
            text.line("str r2, [sp, #%d]", REPEATS);
        }
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
        int reach = (LDRD_REACH - shape.spanW() * shape.columnBytes()) / (shape.strideW() * shape.columnBytes()) + 1;
        int rowBelow = outputRows == 2 ? shape.width() * shape.outputs() : 0;
        int most = Math.min(Math.min(MOST_UNROLLED, reach), (LDR_REACH - rowBelow) / shape.outputs());
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

    /** Outputs of a row; of a single row two at a time, if their windows overlap. */
    private void outputs(int count) {
        boolean overlap = shape.strideW() < shape.kernelW() && shape.dilationW() == 1;
        int together = outputRows == 1 && overlap ? 2 : 1;
        for (int i = 0; i < count; i += together) {
            List<Sum> sums = new ArrayList<>();
            for (int column = 0; column < Math.min(together, count - i); column++) {
                for (int row = 0; row < outputRows; row++) {
                    sums.add(new Sum(row, column * shape.strideW(), "r" + (2 + sums.size())));
                }
            }
            sums(sums, i * shape.strideW());
            finish(sums, i * shape.outputs());
        }
    }

    /**
     * A sum of an output.
     *
     * @param row its row
     * @param column first column of its window, after that of the first sum
     * @param register in which it is computed
     */
    private record Sum(int row, int column, String register) {}

    /** Sums of windows, the first of which begins at the given column from r0 on. */
    private void sums(List<Sum> sums, int first) {
        Set<Sum> started = new HashSet<>();
        if (epilogue.hasBias()) {
            text.line("ldr r2, [sp, #%d]", KEPT);
            sums.stream().skip(1).forEach(sum -> text.line("mov %s, r2", sum.register));
            started.addAll(sums);
        }
        int columns = sums.get(sums.size() - 1).column + shape.spanW();
        for (int column = 0; column < columns; column += shape.dilationW()) {
            int words = (inputRows + 1) / 2;
            for (int pair = 0; pair < words; pair += 2) {
                int place = (first + column) * shape.columnBytes() + pair * WORD;
                boolean two = pair + 1 < words;
                text.line(two ? "ldrd r12, lr, [r0, #%d]" : "ldr r12, [r0, #%d]", place);
                for (Sum sum : sums) {
                    int kx = (column - sum.column) / shape.dilationW();
                    if (column >= sum.column && kx < shape.kernelW()) {
                        products(sum, kx, 2 * pair, "r12", started);
                        if (two) {
                            products(sum, kx, 2 * pair + 2, "lr", started);
                        }
                    }
                }
            }
        }
    }

    /** Products of a word, which holds an input row and the one below, with the weights of an output. */
    private void products(Sum sum, int kx, int inputRow, String word, Set<Sum> started) {
        int tap = inputRow - sum.row * shape.strideH();
        int last = shape.kernelH() - 1;
        if (tap < -1 || tap > last) {
            return;
        }
        String half = last == 0 ? "b" : "t";
        String name = tap < 0 ? "tb" : tap < last ? "" : "b" + half;
        String weight = weight(kx, tap < 0 ? 0 : tap < last ? shape.wordOf(tap) : shape.wordOfLast());
        boolean isSingle = !name.isEmpty();
        if (started.add(sum)) {
            text.line("%s%s %s, %s, %s", isSingle ? "smul" : "smuad", name, sum.register, word, weight);
        } else {
            String next = isSingle ? "smla" : "smlad";
            text.line("%s%s %s, %s, %s, %s", next, name, sum.register, word, weight, sum.register);
        }
    }

    private String weight(int kx, int word) {
        return "r" + (MULTIPLIER - shape.weights() + kx * shape.weightsPerColumn() + word);
    }

    /** Rescales, limits and stores the sums. */
    private void finish(List<Sum> sums, int offset) {
        List<String> places = sums.stream()
                .map(sum -> offset
                        + sum.row * shape.width() * shape.outputs()
                        + sum.column / shape.strideW() * shape.outputs())
                .map(place -> "[r1, #" + place + "]")
                .toList();
        epilogue.store(text, sums.stream().map(Sum::register).toList(), KEPT, places);
    }

    private void nextBlock() {
        int blocks = slot(INPUT_ROWS) + WORD * inputRows;
        text.line("str r1, [sp, #%d]", slot(OUTPUT));
        text.line("ldr r2, [sp, #%d]", blocks);
        text.line("subs r2, #1");
        text.line("str r2, [sp, #%d]", blocks);
        text.line("bne 1b");
    }
}
