// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.schedule.DspDepthwiseShape.BLOCK;

import io.kiln.lower.ProvenRescale;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The assembly of {@link DspDepthwiseKernel}. For blocks of four channels, first the input rows under the windows are widened into
 * scratch, two rows to a word; then each channel slides its weights along them.
 *
 * <pre>
 * widening                       multiplying
 * r0-r4   input rows             r0       scratch            r1       output
 * r5      rounds left
 * r6-r11  values                 r2 r3    sums of both rows
 * r12     scratch                r4-r9    weights, the last ones of these
 * lr      mask                   r10 r11  multiplier, offset
 *                                r12 lr   inputs
 * stack   correction, (free), end of scratch, columns left, scratch, table, then what the caller needs back, output, input rows, blocks
 * </pre>
 *
 * <p>With a window of 3x3 and stride 1, two columns of four rows and four channels are widened in 40 instructions, and two outputs
 * computed in 3 LDRD, 12 multiplies and 6 instructions to rescale and store them.
 */
final class DspDepthwiseAsm {
    /** Columns written out at most. */
    static final int MOST_UNROLLED = 8;

    /** Bytes of scratch under a window at most. */
    static final int MOST_COLUMN_BYTES = 1020;

    private static final int LDRD_REACH = MOST_COLUMN_BYTES;
    private static final int LDR_REACH = 4095;
    private static final int CORRECTION = 0;
    private static final int END = 8;
    private static final int COUNT = 12;
    private static final int SCRATCH = 16;
    private static final int TABLE = 20;
    private static final int OUTPUT = 60;
    private static final int INPUT_ROWS = 64;
    private static final int FIRST_VALUE = 6;
    private static final int MULTIPLIER = 10;
    private static final int WORD = 4;

    private final DspDepthwiseShape shape;
    private final int outputRows;
    private final int inputRows;
    private final DspRescale rescale;
    private final StringBuilder lines = new StringBuilder();

    private DspDepthwiseAsm(DspDepthwiseKernel kernel) {
        this.shape = kernel.shape();
        this.outputRows = kernel.rows();
        this.inputRows = shape.inputRows(outputRows);
        this.rescale = kernel.rescale();
    }

    /** The body of a naked function with the kernel's parameters. */
    static String of(DspDepthwiseKernel kernel) {
        DspDepthwiseAsm asm = new DspDepthwiseAsm(kernel);
        asm.enter();
        asm.line("1:");
        asm.widen();
        asm.multiply();
        asm.nextBlock();
        asm.line("add sp, #24");
        asm.line("pop {r4-r11, pc}");
        return asm.lines.toString();
    }

    private void line(String format, Object... arguments) {
        lines.append("      \"")
                .append(String.format(Locale.ROOT, format, arguments))
                .append("\\n\"\n");
    }

    /** Saves registers and turns offsets of input rows into addresses; rows outside the input become the padding. */
    private void enter() {
        line("push {r0-r11, lr}");
        line("sub sp, #8");
        for (int i = 0; i < inputRows; i++) {
            int slot = INPUT_ROWS + WORD * i;
            line("ldr r4, [sp, #%d]", slot);
            if (shape.padded()) {
                line("cmp r4, #0");
                line("ite lt");
                line("movlt r4, r1");
                line("addge r4, r0");
            } else {
                line("add r4, r0");
            }
            line("str r4, [sp, #%d]", slot);
        }
        line("add r4, r2, #%d", shape.columnBytes());
        line("str r4, [sp, #%d]", END);
    }

    private void widen() {
        line("add r12, sp, #%d", INPUT_ROWS);
        line(inputRows == 1 ? "ldr r0, [r12]" : "ldm r12, {r0-r%d}", inputRows - 1);
        for (int i = 0; i < inputRows; i++) {
            line("add r%d, r%d, #%d", FIRST_VALUE + i, i, BLOCK);
        }
        line(inputRows == 1 ? "str r6, [r12]" : "stm r12, {r6-r%d}", FIRST_VALUE + inputRows - 1);
        line("ldr r12, [sp, #%d]", SCRATCH);
        line("mov lr, #0xff00ff00");
        if (shape.padLeft() > 0) {
            line("add r12, #%d", shape.padLeft() * shape.columnBytes());
        }
        int columns = shape.inputColumns();
        int unroll = Math.min(MOST_UNROLLED / 2, 1 + LDR_REACH / 2 / shape.channels());
        if (columns <= 2 * unroll && (columns - 1) * shape.channels() <= LDR_REACH) {
            widenColumns(columns);
            return;
        }
        line("mov r5, #%d", columns / unroll);
        line("2:");
        widenColumns(unroll);
        for (int i = 0; i < inputRows; i++) {
            line("add r%d, #%d", i, unroll * shape.channels());
        }
        line("add r12, #%d", unroll * shape.columnBytes());
        line("subs r5, #1");
        line("bne 2b");
        widenColumns(columns % unroll);
    }

    private void widenColumns(int count) {
        for (int column = 0; column < count; column++) {
            int place = column * shape.columnBytes();
            for (int pair = 0; 2 * pair < inputRows; pair += 2) {
                widenPairs(pair, column * shape.channels(), place + pair * WORD);
            }
        }
    }

    /** One column of two pairs of rows, or of what there is of them. */
    private void widenPairs(int pair, int offset, int place) {
        int pairs = Math.min(2, (inputRows + 1) / 2 - pair);
        for (int i = 0; i < pairs; i++) {
            int upper = 2 * (pair + i);
            int value = FIRST_VALUE + 2 * i;
            line("ldr r%d, [r%d, #%d]", value, upper, offset);
            if (upper + 1 < inputRows) {
                line("ldr r%d, [r%d, #%d]", value + 1, upper + 1, offset);
                line("pkhbt r%d, r%d, r%d, lsl #16", 10 + i, value, value + 1);
                line("pkhtb r%d, r%d, r%d, asr #16", value + 1, value + 1, value);
            }
        }
        for (int channel = 0; channel < BLOCK; channel++) {
            List<String> words = new ArrayList<>();
            for (int i = 0; i < pairs; i++) {
                words.add(widened(2 * (pair + i) + 1 < inputRows, FIRST_VALUE + 2 * i, channel));
            }
            String store = pairs == 2 ? "strd" : "str";
            line("%s %s, [r12, #%d]", store, String.join(", ", words), place + channel * shape.channelBytes());
        }
    }

    /** Makes the bytes of a channel upper bytes of halves, and so 256 times as large; gives the register. */
    private String widened(boolean isPair, int value, int channel) {
        String target = "r" + (isPair ? value : value + 1);
        if (isPair) {
            String source = "r" + (channel >= 2 ? value + 1 : value == FIRST_VALUE ? 10 : 11);
            line(channel % 2 == 0 ? "and %s, lr, %s, lsl #8" : "bic %s, %s, #0x00ff00ff", target, source);
        } else if (channel == 0) {
            line("and %s, lr, r%d, lsl #8", target, value);
        } else if (channel == 1) {
            line("and %s, lr, r%d", target, value);
        } else {
            line("and %s, lr, r%d, lsr #%d", target, value, 8 * (channel - 1));
        }
        return target;
    }

    private void multiply() {
        boolean signed = rescale.rescale().hasNegatives();
        line("ldr r0, [sp, #%d]", SCRATCH);
        line("ldr r1, [sp, #%d]", OUTPUT);
        line("3:");
        line("ldr lr, [sp, #%d]", TABLE);
        line("ldm lr!, {r%d-r11}", MULTIPLIER - shape.weights());
        if (signed) {
            line("ldr r2, [lr], #4");
            line("str r2, [sp, #%d]", CORRECTION);
        }
        line("str lr, [sp, #%d]", TABLE);
        int unroll = unroll();
        int moved = 0;
        if (unroll < shape.width()) {
            int rounds = shape.width() / unroll;
            line("mov r2, #%d", rounds);
            line("str r2, [sp, #%d]", COUNT);
            line("4:");
            outputs(unroll);
            line("add r0, #%d", unroll * shape.strideW() * shape.columnBytes());
            line("add r1, #%d", unroll * shape.channels());
            line("ldr r2, [sp, #%d]", COUNT);
            line("subs r2, #1");
            line("str r2, [sp, #%d]", COUNT);
            line("bne 4b");
            outputs(shape.width() % unroll);
            moved = rounds * unroll;
        } else {
            outputs(unroll);
        }
        advance("r0", shape.channelBytes() - moved * shape.strideW() * shape.columnBytes());
        advance("r1", 1 - moved * shape.channels());
        line("ldr r2, [sp, #%d]", END);
        line("cmp r0, r2");
        line("bne 3b");
    }

    private void advance(String register, int by) {
        if (Math.abs(by) <= LDR_REACH) {
            line("%s %s, #%d", by < 0 ? "sub" : "add", register, Math.abs(by));
        } else {
            line("movw r2, #%d", Math.abs(by) & 0xFFFF);
            line("movt r2, #%d", Math.abs(by) >>> 16);
            line("%s %s, r2", by < 0 ? "sub" : "add", register);
        }
    }

    /** Outputs of a row written out: all of a short row, else a number that divides the row if there is one. */
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
        for (int kx = 0; kx < shape.kernelW(); kx++) {
            int words = (inputRows + 1) / 2;
            for (int pair = 0; pair < words; pair += 2) {
                int place = (column + kx) * shape.columnBytes() + pair * WORD;
                boolean two = pair + 1 < words;
                line(two ? "ldrd r12, lr, [r0, #%d]" : "ldr r12, [r0, #%d]", place);
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
            line("%s %s, %s, %s, %s", next, sum, x, w, sum);
        } else {
            line("%s %s, %s, %s", first, sum, x, w);
        }
        started[row] = true;
    }

    /** Rescales, limits and stores the sums. */
    private void finish(int offset) {
        ProvenRescale r = rescale.rescale();
        List<String> sums = new ArrayList<>(List.of("r2", "r3")).subList(0, outputRows);
        sums.forEach(s -> line("smmla %s, %s, r10, r11", s, s));
        if (r.hasNegatives()) {
            line("ldr r12, [sp, #%d]", CORRECTION);
            for (String s : sums) {
                line("and lr, r12, %s, asr #31", s);
                line("sub %s, lr", s);
                line("%s %s, #%d", r.lateOffset() < 0 ? "sub" : "add", s, Math.abs(r.lateOffset()));
            }
        }
        sums.forEach(s -> line("ssat %s, #8, %s, asr #%d", s, s, r.shift()));
        sums.forEach(this::limit);
        for (int row = 0; row < outputRows; row++) {
            line("strb r%d, [r1, #%d]", 2 + row, offset + row * shape.width() * shape.channels());
        }
    }

    private void limit(String register) {
        if (rescale.low() > -128) {
            line("cmp %s, #%d", register, rescale.low());
            line("it lt");
            line("movlt %s, #%d", register, rescale.low());
        }
        if (rescale.high() < 127) {
            line("cmp %s, #%d", register, rescale.high());
            line("it gt");
            line("movgt %s, #%d", register, rescale.high());
        }
    }

    private void nextBlock() {
        int blocks = INPUT_ROWS + WORD * inputRows;
        line("str r1, [sp, #%d]", OUTPUT);
        line("ldr r2, [sp, #%d]", blocks);
        line("subs r2, #1");
        line("str r2, [sp, #%d]", blocks);
        line("bne 1b");
    }
}
