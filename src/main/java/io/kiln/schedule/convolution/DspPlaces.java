// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Inputs at constant offsets, widened in straight code.
 *
 * @param offsets offsets of inputs from a pixel's first one; whole fours
 * @param pitch bytes from a pixel's inputs to the next one's
 * @param kind part of a kernel's name: everything that the offsets depend on
 */
public record DspPlaces(List<Integer> offsets, int pitch, String kind) implements DspWidening {
    public DspPlaces {
        offsets = List.copyOf(offsets);
    }

    static DspPlaces of(int[] offsets, int pitch, String kind) {
        return new DspPlaces(Arrays.stream(offsets).boxed().toList(), pitch, kind);
    }

    @Override
    public DspPlaces inShort() {
        return this;
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
    public boolean movesScratch() {
        return false;
    }

    /** Whether the inputs of a four lie one after the other. */
    public boolean areNeighbours(int four) {
        int from = offsets.get(4 * four);
        return IntStream.range(1, 4).allMatch(i -> offsets.get(4 * four + i) == from + i);
    }
}
