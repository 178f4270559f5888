// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Looks for the constants of a {@link ProvenRescale} with a given shift. */
final class RescaleSearch {
    /** How far from the right multiplier others are tried. */
    private static final int MOST_NEIGHBOURS = 1000;

    private final ProvenRescale.Reference reference;
    private final List<Long> bounds;
    private final List<long[]> steps;
    private final int scaleBits;
    private final int shift;
    private final boolean signed;
    private final long rounding;

    RescaleSearch(
            ProvenRescale.Reference reference,
            List<Long> bounds,
            List<long[]> steps,
            int scaleBits,
            int shift,
            boolean signed) {
        this.reference = reference;
        this.bounds = bounds;
        this.steps = steps;
        this.scaleBits = scaleBits;
        this.shift = shift;
        this.signed = signed;
        this.rounding = ((long) reference.requantization().outputZeroPoint() << shift) + (1L << (shift - 1));
    }

    Optional<ProvenRescale> run() {
        List<ProvenRescale.Channel> channels = new ArrayList<>();
        for (int c = 0; c < bounds.size(); c++) {
            Optional<ProvenRescale.Channel> channel = channel(c);
            if (channel.isEmpty()) {
                return Optional.empty();
            }
            channels.add(channel.get());
        }
        ProvenRescale found = new ProvenRescale(scaleBits, channels, signed ? (int) rounding : 0, shift).simplified();
        for (int c = 0; c < bounds.size(); c++) {
            if (!found.isEqual(reference, c, bounds.get(c), steps.get(c))) {
                return Optional.empty();
            }
        }
        return Optional.of(found);
    }

    /**
     * Chooses a channel's constants from the places where the reference steps. The product loses its low bits, which may put a
     * step one off; a multiplier next to the right one loses others.
     */
    private Optional<ProvenRescale.Channel> channel(int c) {
        int down = scaleBits - 1 - reference.leftShift(c) - shift;
        long m = reference.multiplier(c);
        long nearest = down <= 0 ? m : down > 31 ? 0 : (m + (1L << (down - 1))) >> down;
        for (int i = 0; i <= 2 * MOST_NEIGHBOURS; i++) {
            long multiplier = nearest + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);
            if (multiplier >= 0 && multiplier <= Integer.MAX_VALUE) {
                Optional<ProvenRescale.Channel> found = channel(c, (int) multiplier);
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    private Optional<ProvenRescale.Channel> channel(int c, int multiplier) {
        Range above = new Range();
        Range below = new Range();
        int zero = reference.requantization().outputZeroPoint();
        long[] reached = steps.get(c);
        long bound = bounds.get(c);
        for (int value = reference.low() + 1; value <= reference.high(); value++) {
            long first = reached[value - reference.low() - 1];
            Range range = signed && value <= zero ? below : above;
            long wanted = ((long) value << shift) - (signed ? rounding : 0);
            if (first <= bound) {
                range.least = Math.max(range.least, wanted - ProvenRescale.highMul(first, multiplier, scaleBits));
            }
            if (first > -bound) {
                range.most = Math.min(range.most, wanted - 1 - ProvenRescale.highMul(first - 1, multiplier, scaleBits));
            }
            if (range.least > range.most) {
                return Optional.empty();
            }
        }
        return place(c, multiplier, above, below);
    }

    /** Offsets that put all steps right; below zero the correction makes up for the difference. */
    private Optional<ProvenRescale.Channel> place(int c, int multiplier, Range above, Range below) {
        long exact = (((long) reference.bias().get(c) * multiplier) >> (32 - scaleBits)) + (signed ? 0 : rounding);
        long offset = above.isBounded() || !signed ? above.nearest(exact) : below.nearest(exact);
        long correction = signed && below.isBounded() ? Math.max(0, offset - below.nearest(offset)) : 0;
        return Math.abs(offset) <= 1 << 30 && correction <= 1 << 30
                ? Optional.of(new ProvenRescale.Channel(multiplier, (int) offset, (int) correction))
                : Optional.empty();
    }

    /** Values that an offset may have. */
    private static final class Range {
        private static final long FAR = 1L << 40;
        private long least = -FAR;
        private long most = FAR;

        boolean isBounded() {
            return least > -FAR || most < FAR;
        }

        /** The middle, or where there is none because sums reach one side only, the value nearest to the exact one. */
        long nearest(long exact) {
            return least > -FAR && most < FAR ? Math.floorDiv(least + most, 2) : Math.max(least, Math.min(most, exact));
        }
    }
}
