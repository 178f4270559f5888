// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Widens inputs at constant offsets, in straight code.
 *
 * @param offsets offsets of inputs from a pixel's first one; whole fours
 * @param pitch bytes from a pixel's inputs to the next one's
 * @param kind part of a kernel's name: everything that the offsets depend on
 */
record DspPlaces(List<Integer> offsets, int pitch, String kind) implements DspWidening {
    DspPlaces {
        offsets = List.copyOf(offsets);
    }

    static DspPlaces of(int[] offsets, int pitch, String kind) {
        return new DspPlaces(Arrays.stream(offsets).boxed().toList(), pitch, kind);
    }

    @Override
    public String suffix() {
        return kind + "_step" + pitch;
    }

    @Override
    public int inputs() {
        return offsets.size();
    }

    @Override
    public String place() {
        return "places[i]";
    }

    @Override
    public String places() {
        String numbers = offsets.stream().map(String::valueOf).collect(Collectors.joining(", "));
        return "  static const int16_t places[" + offsets.size() + "] = {" + numbers + "};\n";
    }

    @Override
    public boolean movesScratch() {
        return false;
    }

    @Override
    public void emit(AsmText asm, Form form) {
        int fours = offsets.size() / 4;
        for (int i = 0; i < fours; i += 2) {
            int together = Math.min(2, fours - i);
            for (int k = 0; k < together; k++) {
                load(asm, form, k, offsets.subList(4 * (i + k), 4 * (i + k) + 4));
            }
            for (int k = 0; k < together; k++) {
                form.widen(asm, k);
            }
            for (int k = 0; k < together; k++) {
                form.store(asm, k, i + k);
            }
        }
    }

    /** Loads four bytes of each pixel, neighbours in one go. */
    private static void load(AsmText asm, Form form, int number, List<Integer> offsets) {
        int pixels = form.pixels();
        int first = form.loaded(number);
        int spare = form.free();
        int from = offsets.get(0);
        boolean areNeighbours = IntStream.range(1, 4).allMatch(i -> offsets.get(i) == from + i);
        for (int pixel = 0; pixel < pixels; pixel++) {
            asm.line(areNeighbours ? "ldr r%d, [r%d, #%d]" : "ldrb r%d, [r%d, #%d]", first + pixel, 2 + pixel, from);
        }
        for (int i = 1; i < 4 && !areNeighbours; i++) {
            for (int pixel = 0; pixel < pixels; pixel++) {
                asm.line("ldrb r%d, [r%d, #%d]", spare + pixel, 2 + pixel, offsets.get(i));
            }
            for (int pixel = 0; pixel < pixels; pixel++) {
                asm.line("orr r%d, r%d, r%d, lsl #%d", first + pixel, first + pixel, spare + pixel, 8 * i);
            }
        }
    }
}
