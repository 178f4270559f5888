// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.wide;

import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.PixelTile;
import io.kiln.tir.Kernel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Products by Thumb-2: of two channels side by side where there are Arm's DSP instructions, otherwise of one. Inputs are loaded
 * once for all windows that contain them. Loads of two columns follow each other, because a load behind another one takes a
 * cycle less on a Cortex-M4.
 *
 * <pre>
 * r0 row of the input      r1 weights             r2 rows left
 * r3-r8 sums, pixel by pixel                      r9, r10 inputs              r11, r12, lr weights
 * stack: the other arguments, see {@link WideText}
 * weights of two channels: int16, since there is no product with a byte
 * </pre>
 *
 * @param hasDsp whether there are DSP instructions
 */
record ThumbWideTaps(boolean hasDsp) implements WideKernel {
    /** Channels that a layer needs for DSP instructions. */
    static final int PAIR = 2;

    private static final int SUMS = 3;
    private static final int SUM_REGISTERS = 6;
    private static final List<String> INPUTS = List.of("r9", "r10");
    private static final List<String> WEIGHTS = List.of("r11", "r12", "lr");

    /** Bytes above the stack pointer at which arguments are. */
    private static final int X = 0;

    private static final int ROWS = 4;
    private static final int OUT = 8;
    private static final int ABOVE = 12;
    private static final int BELOW = 16;
    private static final int TABLE_END = 20;
    private static final int LEFT = 28;
    private static final int LOW = 32;
    private static final int SIZE = 36;

    @Override
    public String title() {
        return hasDsp ? "dsp_depthwise16" : "thumb_depthwise16";
    }

    @Override
    public String reason() {
        return "pixels side by side share inputs" + (hasDsp ? " and weights of two channels" : " and weights")
                + "; sums are proven to fit 32 bits";
    }

    @Override
    public int pixels() {
        return SUM_REGISTERS / channels();
    }

    @Override
    public int channels() {
        return hasDsp ? PAIR : 1;
    }

    @Override
    public void put(ByteBuffer table, int weight) {
        if (hasDsp) {
            table.putShort((short) weight);
        } else {
            table.put((byte) weight);
        }
    }

    @Override
    public int weightBytes() {
        return hasDsp ? Short.BYTES : 1;
    }

    /** Bytes of a tap's weights in the table. */
    private int tapBytes() {
        return channels() * weightBytes();
    }

    @Override
    public Kernel kernel(Place place) {
        String weight = hasDsp
                ? "(int16_t)(uint16_t)((uint32_t)table[2 + (i) / 2] >> ((i) % 2 * 16))"
                : "((const int8_t*)(table + 1))[i]";
        return new WideText(this, place)
                .assembly(
                        "kiln_" + title() + "_" + place.suffix(),
                        hasDsp ? "defined(__ARM_FEATURE_DSP) && defined(__thumb__)" : AsmText.THUMB_2,
                        "i",
                        weight,
                        assembly(place));
    }

    private AsmText assembly(Place place) {
        AsmText asm = new AsmText();
        if (place.isLimited() && hasDsp) {
            asm.line("pkhbt r9, r9, r9, lsl #16");
            asm.line("pkhbt r10, r10, r10, lsl #16");
        }
        asm.line("push {r10, r11}");
        asm.line("push {r0, r2, r3, r4, r5, r6, r7, r8, r9}");
        asm.line("1:");
        start(asm, place.tile().pixels());
        asm.line("2:");
        int moved = row(asm, place);
        asm.add("r0", "r0", Short.BYTES * place.step() - moved, "r9");
        asm.line("add r1, #%d", tapBytes() * place.tile().taps());
        if (place.wrap() > 0) {
            asm.line("ldr r9, [sp, #%d]", LEFT);
            asm.move("r10", Short.BYTES * place.wrap());
            asm.line("sub r11, r2, #1");
            asm.line("cmp r11, r9");
            asm.line("it eq");
            asm.line("subeq r0, r0, r10");
        }
        asm.line("subs r2, #1");
        asm.line("bne 2b");
        finish(asm, place);
        asm.line("ldr r9, [sp, #%d]", TABLE_END);
        asm.line("cmp r1, r9");
        asm.line("bne 1b");
        asm.line("ldr r7, [sp, #%d]", TABLE_END + Integer.BYTES);
        asm.line("add sp, #%d", SIZE);
        asm.line("pop {r10, r11}");
        return asm;
    }

    /** Sums begin with the biases. */
    private void start(AsmText asm, int pixels) {
        asm.line("ldr r9, [sp, #%d]", ABOVE);
        asm.line("ldr r2, [sp, #%d]", ROWS);
        asm.line("ldr r0, [sp, #%d]", X);
        asm.line(hasDsp ? "ldrd r3, r4, [r1], #8" : "ldr r3, [r1], #4");
        asm.line("add r1, r9");
        for (int sum = channels(); sum < pixels * channels(); sum++) {
            asm.line("mov r%d, r%d", SUMS + sum, SUMS + sum % channels());
        }
    }

    /** A row of the window; returns the bytes by which r0 has moved. */
    private int row(AsmText asm, Place place) {
        PixelTile tile = place.tile();
        List<Integer> used = IntStream.range(tile.begin(), tile.end())
                .filter(column -> !taps(tile, List.of(column)).isEmpty())
                .boxed()
                .toList();
        List<Integer> held = new ArrayList<>(List.of(-1, -1, -1));
        int moved = 0;
        for (int i = 0; i < used.size(); ) {
            List<Integer> two = used.subList(i, Math.min(i + INPUTS.size(), used.size()));
            int apart = (two.get(two.size() - 1) - two.get(0)) * Short.BYTES * place.channels();
            boolean areNear = apart <= AsmText.LOAD_REACH && taps(tile, two).size() <= WEIGHTS.size();
            List<Integer> columns = areNear ? two : two.subList(0, 1);
            moved = loads(asm, place, columns, moved);
            List<Integer> taps = taps(tile, columns);
            for (int t = 0; t < taps.size(); t += WEIGHTS.size()) {
                List<Integer> part = taps.subList(t, Math.min(t + WEIGHTS.size(), taps.size()));
                weights(asm, held, part);
                for (int j = 0; j < columns.size(); j++) {
                    products(asm, tile, columns.get(j), INPUTS.get(j), held, part);
                }
            }
            i += columns.size();
        }
        return moved;
    }

    /** The taps that read columns. */
    private static List<Integer> taps(PixelTile tile, List<Integer> columns) {
        return columns.stream()
                .flatMap(column -> IntStream.range(0, tile.pixels()).mapToObj(p -> tile.tap(p, column)))
                .filter(tap -> tap >= 0)
                .distinct()
                .toList();
    }

    private int loads(AsmText asm, Place place, List<Integer> columns, int moved) {
        int pixel = Short.BYTES * place.channels();
        int origin = place.tile().begin();
        int first = (columns.get(0) - origin) * pixel;
        int last = (columns.get(columns.size() - 1) - origin) * pixel;
        int base = moved;
        if (last - base > AsmText.LOAD_REACH) {
            base = first;
            asm.add("r0", "r0", base - moved, INPUTS.get(0));
        }
        for (int j = 0; j < columns.size(); j++) {
            asm.line(
                    hasDsp ? "ldr %s, [r0, #%d]" : "ldrsh %s, [r0, #%d]",
                    INPUTS.get(j),
                    (columns.get(j) - origin) * pixel - base);
        }
        return base;
    }

    /** Loads the weights of taps that no register holds into registers that none of the taps needs. */
    private void weights(AsmText asm, List<Integer> held, List<Integer> taps) {
        for (int tap : taps) {
            if (!held.contains(tap)) {
                int free = IntStream.range(0, held.size())
                        .filter(r -> !taps.contains(held.get(r)))
                        .findFirst()
                        .orElseThrow();
                held.set(free, tap);
                asm.line(hasDsp ? "ldr %s, [r1, #%d]" : "ldrsb %s, [r1, #%d]", WEIGHTS.get(free), tapBytes() * tap);
            }
        }
    }

    private void products(
            AsmText asm, PixelTile tile, int column, String input, List<Integer> held, List<Integer> taps) {
        for (int p = 0; p < tile.pixels(); p++) {
            int tap = tile.tap(p, column);
            if (taps.contains(tap)) {
                String weight = WEIGHTS.get(held.indexOf(tap));
                int sum = SUMS + channels() * p;
                if (hasDsp) {
                    asm.line("smlabb r%d, %s, %s, r%d", sum, input, weight, sum);
                    asm.line("smlatt r%d, %s, %s, r%d", sum + 1, input, weight, sum + 1);
                } else {
                    asm.line("mla r%d, %s, %s, r%d", sum, input, weight, sum);
                }
            }
        }
    }

    /** Results of all pixels. */
    private void finish(AsmText asm, Place place) {
        asm.line("ldr r9, [sp, #%d]", BELOW);
        asm.line("ldr r2, [sp, #%d]", OUT);
        asm.line("ldr r0, [sp, #%d]", X);
        asm.line("add r1, r9");
        for (int p = 0; p < place.tile().pixels(); p++) {
            int offset = Short.BYTES * place.channels() * p;
            if (hasDsp) {
                pair(asm, place.isLimited(), SUMS + PAIR * p, offset, p == 0);
            } else {
                single(asm, place.isLimited(), SUMS + p, offset, p == 0);
            }
        }
        asm.line("add r0, #%d", Short.BYTES * channels());
        asm.line("add r2, #%d", Short.BYTES * channels());
        asm.line("str r0, [sp, #%d]", X);
        asm.line("str r2, [sp, #%d]", OUT);
    }

    /** The results of two channels in a word. */
    private static void pair(AsmText asm, boolean isLimited, int sum, int offset, boolean isFirst) {
        if (isFirst) {
            asm.line("ldrd r9, r10, [r1], #8");
        }
        if (isFirst && isLimited) {
            asm.line("ldrd r11, r12, [sp, #%d]", LOW);
        }
        asm.line("smmulr r%d, r%d, r9", sum, sum);
        asm.line("smmulr r%d, r%d, r10", sum + 1, sum + 1);
        asm.line("ssat r%d, #16, r%d", sum, sum);
        asm.line("ssat r%d, #16, r%d", sum + 1, sum + 1);
        asm.line("pkhbt r%d, r%d, r%d, lsl #16", sum, sum, sum + 1);
        if (isLimited) {
            asm.line("ssub16 lr, r%d, r11", sum);
            asm.line("sel r%d, r%d, r11", sum, sum);
            asm.line("ssub16 lr, r%d, r12", sum);
            asm.line("sel r%d, r12, r%d", sum, sum);
        }
        asm.line("str r%d, [r2, #%d]", sum, offset);
    }

    private static void single(AsmText asm, boolean isLimited, int sum, int offset, boolean isFirst) {
        if (isFirst) {
            asm.line("ldr r9, [r1], #4");
        }
        asm.line("mov r12, #0x80000000");
        asm.line("mov lr, #0");
        asm.line("smlal r12, lr, r%d, r9", sum);
        asm.line("ssat r%d, #16, lr", sum);
        if (isLimited) {
            asm.line("ldrd r11, r12, [sp, #%d]", LOW);
            asm.line("cmp r%d, r11", sum);
            asm.line("it lt");
            asm.line("movlt r%d, r11", sum);
            asm.line("cmp r%d, r12", sum);
            asm.line("it gt");
            asm.line("movgt r%d, r12", sum);
        }
        asm.line("strh r%d, [r2, #%d]", sum, offset);
    }
}
