// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.schedule.dsp.DspDepthwiseAsm.LDR_REACH;
import static io.kiln.schedule.dsp.DspDepthwiseAsm.MOST_UNROLLED;
import static io.kiln.schedule.dsp.DspDepthwiseAsm.WORD;
import static io.kiln.schedule.dsp.DspDepthwiseShape.BLOCK;

import io.kiln.schedule.parts.AsmText;

/**
 * The part of {@link DspDepthwiseAsm} that widens the input rows under the windows into scratch, two rows to a word.
 *
 * <pre>
 * r0-r4   input rows
 * r5      rounds left
 * r6-r11  values
 * r12     scratch
 * lr      mask
 * </pre>
 *
 * <p>Two columns of four rows and four channels are widened in 44 instructions.
 *
 * @param inputRows rows under the windows
 * @param isPaired see {@link DspConvShape}; where the offset reaches
 * @param rowsSlot place of their addresses on the stack
 * @param scratchSlot place of the address of scratch
 * @param asm receives the instructions
 */
record DspDepthwiseWidening(
        DspDepthwiseShape shape, int inputRows, boolean isPaired, int rowsSlot, int scratchSlot, AsmText asm) {
    private static final int FIRST_VALUE = 6;

    /** Emits them for one block of channels. */
    void emit() {
        asm.line("add r12, sp, #%d", rowsSlot);
        asm.line(inputRows == 1 ? "ldr r0, [r12]" : "ldm r12, {r0-r%d}", inputRows - 1);
        for (int i = 0; i < inputRows; i++) {
            asm.line("add r%d, r%d, #%d", FIRST_VALUE + i, i, BLOCK);
        }
        asm.line(inputRows == 1 ? "str r6, [r12]" : "stm r12, {r6-r%d}", FIRST_VALUE + inputRows - 1);
        asm.line("ldr r12, [sp, #%d]", scratchSlot);
        asm.line("mov lr, #0xff00ff00");
        if (shape.padLeft() > 0) {
            asm.line("add r12, #%d", shape.padLeft() * shape.columnBytes());
        }
        int columns = shape.inputColumns();
        int unroll = Math.min(MOST_UNROLLED / 2, 1 + LDR_REACH / 2 / shape.channels());
        if (columns <= 2 * unroll && (columns - 1) * shape.channels() <= LDR_REACH) {
            widenColumns(columns, true);
            return;
        }
        int rounds = (isNarrow() ? columns - 1 : columns) / unroll;
        asm.line("mov r5, #%d", rounds);
        asm.line("2:");
        widenColumns(unroll, false);
        for (int i = 0; i < inputRows; i++) {
            asm.line("add r%d, #%d", i, unroll * shape.channels());
        }
        asm.line("add r12, #%d", unroll * shape.columnBytes());
        asm.line("subs r5, #1");
        asm.line("bne 2b");
        widenColumns(columns - rounds * unroll, true);
    }

    /** Whether a word holds more than the channels of a column. */
    private boolean isNarrow() {
        return shape.channels() < BLOCK;
    }

    private void widenColumns(int count, boolean areLast) {
        for (int column = 0; column < count; column++) {
            int place = column * shape.columnBytes();
            for (int pair = 0; 2 * pair < inputRows; pair += 2) {
                widenPairs(
                        pair,
                        new Place(column * shape.channels(), place + pair * WORD, areLast && column == count - 1));
            }
        }
    }

    /**
     * A column of some rows.
     *
     * @param input its byte in the input rows
     * @param scratch its byte in scratch
     * @param isLast whether a word that begins there may reach beyond the rows' end
     */
    private record Place(int input, int scratch, boolean isLast) {}

    /** One column of two pairs of rows, or of fewer rows at the end. */
    private void widenPairs(int pair, Place place) {
        int pairs = Math.min(2, (inputRows + 1) / 2 - pair);
        int rows = Math.min(2 * pairs, inputRows - 2 * pair);
        int missing = isNarrow() && place.isLast ? BLOCK - shape.channels() : 0;
        for (int row = 0; row < rows; row++) {
            asm.line("ldr r%d, [r%d, #%d]", FIRST_VALUE + row, 2 * pair + row, place.input - missing);
        }
        for (int row = 0; row < rows && missing > 0; row++) {
            asm.line("lsr r%d, r%d, #%d", FIRST_VALUE + row, FIRST_VALUE + row, 8 * missing);
        }
        for (int i = 0; i < pairs; i++) {
            int value = FIRST_VALUE + 2 * i;
            if (2 * (pair + i) + 1 < inputRows) {
                asm.line("pkhbt r%d, r%d, r%d, lsl #16", 10 + i, value, value + 1);
                asm.line("pkhtb r%d, r%d, r%d, asr #16", value + 1, value + 1, value);
            }
        }
        for (int channel = 0; channel < shape.block(); channel++) {
            widenChannel(pair, pairs, channel, place.scratch + channel * shape.channelBytes());
        }
    }

    /** Widens and stores one channel of a column. */
    private void widenChannel(int pair, int pairs, int channel, int to) {
        if (isPaired && pairs == 2 && to <= DspConvAsm.PAIR_REACH) {
            String first = widened(true, FIRST_VALUE, channel);
            String second = widened(2 * pair + 3 < inputRows, FIRST_VALUE + 2, channel);
            asm.line("strd %s, %s, [r12, #%d]", first, second, to);
            return;
        }
        for (int i = 0; i < pairs; i++) {
            String word = widened(2 * (pair + i) + 1 < inputRows, FIRST_VALUE + 2 * i, channel);
            asm.line("str %s, [r12, #%d]", word, to + i * WORD);
        }
    }

    /** Makes the bytes of a channel upper bytes of halves, and so 256 times as large; gives the register. */
    private String widened(boolean isPair, int value, int channel) {
        String target = "r" + (isPair ? value : value + 1);
        if (isPair) {
            String source = "r" + (channel >= 2 ? value + 1 : value == FIRST_VALUE ? 10 : 11);
            asm.line(channel % 2 == 0 ? "and %s, lr, %s, lsl #8" : "bic %s, %s, #0x00ff00ff", target, source);
        } else if (channel == 0) {
            asm.line("and %s, lr, r%d, lsl #8", target, value);
        } else if (channel == 1) {
            asm.line("and %s, lr, r%d", target, value);
        } else {
            asm.line("and %s, lr, r%d, lsr #%d", target, value, 8 * (channel - 1));
        }
        return target;
    }
}
