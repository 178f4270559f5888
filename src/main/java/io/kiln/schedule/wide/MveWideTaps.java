// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.wide;

import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.PixelTile;
import io.kiln.tir.Kernel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Products of eight channels on MVE: those of the even channels in one vector, those of the odd ones in another. A
 * multiplication and an addition overlap if neither waits for the other, so that additions are one product behind.
 *
 * <pre>
 * q0-q3   sums of two pixels, even and odd        q4 weights, widened by the load     q5 inputs      q6, q7 products
 * r7 row of the input      r12 column of it      lr rows left      the other arguments: see {@link WideText}
 * </pre>
 *
 * <p>A layer of fewer channels is a single block, whose loads of inputs and stores are predicated.
 */
record MveWideTaps() implements WideKernel {
    private static final int CHANNELS = 8;
    private static final int PIXELS = 2;
    private static final int WORDS = CHANNELS * Integer.BYTES;

    /** Largest offset of a vector of halfwords. */
    private static final int REACH = 254;

    @Override
    public String title() {
        return "mve_depthwise16";
    }

    @Override
    public String reason() {
        return "eight channels in one instruction (MVE); sums are proven to fit 32 bits";
    }

    @Override
    public int pixels() {
        return PIXELS;
    }

    @Override
    public int channels() {
        return CHANNELS;
    }

    @Override
    public int order(int place) {
        return place % (CHANNELS / 2) * 2 + place / (CHANNELS / 2);
    }

    @Override
    public void put(ByteBuffer table, int weight) {
        table.put((byte) weight);
    }

    @Override
    public int weightBytes() {
        return 1;
    }

    @Override
    public List<String> vectors() {
        return List.of("q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7");
    }

    @Override
    public Kernel kernel(Place place) {
        return new WideText(this, place)
                .assembly(
                        "kiln_mve_depthwise16_" + place.suffix(),
                        "defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)",
                        "(i) % 2 * 4 + (i) / 2",
                        "((const int8_t*)(table + 8))[i]",
                        new Assembly(place, new AsmText()).text());
    }

    /** The instructions of a kernel. */
    private record Assembly(Place place, AsmText asm) {
        private boolean isPart() {
            return place.channels() < CHANNELS;
        }

        private int pixel() {
            return Short.BYTES * place.channels();
        }

        private AsmText text() {
            asm.line("push {r7, r11}");
            if (isPart()) {
                asm.line("mov r12, #%d", place.channels());
                asm.line("vctp.16 r12");
            }
            asm.line("1:");
            asm.line("vldrw.32 q0, [r1]");
            asm.line("vldrw.32 q1, [r1, #16]");
            if (place.tile().pixels() > 1) {
                asm.line("vmov q2, q0");
                asm.line("vmov q3, q1");
            }
            asm.line("add r1, #%d", WORDS);
            asm.line("add r1, r4");
            asm.line("mov r7, r0");
            asm.line("dls lr, r2");
            asm.line("2:");
            products();
            nextRow();
            asm.line("le lr, 2b");
            asm.line("add r1, r5");
            finish();
            asm.line("cmp r1, r6");
            asm.line("bne 1b");
            asm.line("pop {r7, r11}");
            return asm;
        }

        private void nextRow() {
            asm.line("add r1, #%d", CHANNELS * place.tile().taps());
            asm.add("r7", "r7", Short.BYTES * place.step(), "r12");
            if (place.wrap() > 0) {
                asm.move("r12", Short.BYTES * place.wrap());
                asm.line("sub r11, lr, #1");
                asm.line("cmp r11, r8");
                asm.line("it eq");
                asm.line("subeq r7, r7, r12");
            }
        }

        /** Products of a row of the window, tap by tap; the additions of each follow the multiplications of the next. */
        private void products() {
            PixelTile tile = place.tile();
            int at = 0;
            boolean isNear = true;
            List<String> additions = new ArrayList<>();
            for (int tap = 0; tap < tile.taps(); tap++) {
                boolean isLoaded = false;
                for (int p = 0; p < tile.pixels(); p++) {
                    int column = p * tile.stride() + tap * tile.dilation();
                    if (column < tile.begin() || column >= tile.end()) {
                        continue;
                    }
                    if (!isLoaded) {
                        asm.line("vldrb.s16 q4, [r1, #%d]", CHANNELS * tap);
                        isLoaded = true;
                    }
                    int offset = (column - tile.begin()) * pixel();
                    int distance = offset - at;
                    if (Math.abs(distance) > REACH) {
                        at = offset;
                        distance = 0;
                        isNear = false;
                        asm.add("r12", "r7", offset, "r12");
                    }
                    load("vldrh", "q5", "[" + (isNear ? "r7" : "r12") + ", #" + distance + "]");
                    product(additions, p);
                }
            }
            additions.forEach(asm::line);
        }

        /** The even and odd products of q4 and q5, and the additions of those before. */
        private void product(List<String> additions, int pixel) {
            for (int odd = 0; odd < 2; odd++) {
                if (additions.size() > odd) {
                    asm.line(additions.get(odd));
                }
                asm.line((odd == 0 ? "vmullb" : "vmullt") + ".s16 q%d, q5, q4", 6 + odd);
            }
            additions.clear();
            additions.add(String.format(Locale.ROOT, "vadd.i32 q%1$d, q%1$d, q6", 2 * pixel));
            additions.add(String.format(Locale.ROOT, "vadd.i32 q%1$d, q%1$d, q7", 2 * pixel + 1));
        }

        /** A load or store of as many channels as there are. */
        private void load(String instruction, String register, String place) {
            if (isPart()) {
                asm.line("vpst");
            }
            asm.line(instruction + (isPart() ? "t" : "") + ".16 " + register + ", " + place);
        }

        /** Results of all pixels: even and odd channels narrowed into one vector. */
        private void finish() {
            asm.line("vldrw.32 q4, [r1]");
            asm.line("vldrw.32 q5, [r1, #16]");
            asm.line("add r1, #%d", WORDS);
            if (place.isLimited()) {
                asm.line("vdup.16 q6, r9");
                asm.line("vdup.16 q7, r10");
            }
            for (int p = 0; p < place.tile().pixels(); p++) {
                int even = 2 * p;
                asm.line("vrmulh.s32 q%d, q%d, q4", even, even);
                asm.line("vrmulh.s32 q%d, q%d, q5", even + 1, even + 1);
                asm.line("vqmovnb.s32 q%d, q%d", even, even);
                asm.line("vqmovnt.s32 q%d, q%d", even, even + 1);
                if (place.isLimited()) {
                    asm.line("vmax.s16 q%d, q%d, q6", even, even);
                    asm.line("vmin.s16 q%d, q%d, q7", even, even);
                }
                if (p > 0) {
                    asm.add("r12", "r3", pixel() * p, "r12");
                }
                load("vstrh", "q" + even, p > 0 ? "[r12]" : "[r3]");
            }
            asm.line("add r0, #%d", Short.BYTES * CHANNELS);
            asm.line("add r3, #%d", Short.BYTES * CHANNELS);
        }
    }
}
