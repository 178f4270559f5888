// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.lower.ProvenRescale.Corrected;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Searches for the constants of a {@link ProvenRescale} with a given shift. */
final class RescaleSearch {
    /** Largest distance of tried multipliers from the exact one. */
    private static final int MOST_NEIGHBOURS = 1000;
    /** Larger offsets leave no room for the product in 32 bits. */
    private static final long MOST_OFFSET = 1L << 30;

    private final ProvenRescale.Reference reference;
    private final long[] bounds;
    private final List<long[]> steps;
    private final int scaleBits;
    private final int shift;
    private final Corrected corrected;
    private final boolean signed;
    private final long rounding;
    private final int[] refusing = new int[2];

    RescaleSearch(
            ProvenRescale.Reference reference,
            List<Long> bounds,
            List<long[]> steps,
            int scaleBits,
            int shift,
            Corrected corrected) {
        this.reference = reference;
        this.bounds = bounds.stream().mapToLong(Long::longValue).toArray();
        this.steps = steps;
        this.scaleBits = scaleBits;
        this.shift = shift;
        this.corrected = corrected;
        this.signed = corrected == Corrected.NEGATIVE;
        this.rounding = ((long) reference.requantization().outputZeroPoint() << shift) + (1L << (shift - 1));
    }

    Optional<ProvenRescale> run() {
        List<ProvenRescale.Channel> channels = new ArrayList<>();
        for (int c = 0; c < bounds.length; c++) {
            Optional<ProvenRescale.Channel> channel = channel(c);
            if (channel.isEmpty()) {
                return Optional.empty();
            }
            channels.add(channel.get());
        }
        ProvenRescale found =
                new ProvenRescale(scaleBits, channels, signed ? (int) rounding : 0, shift, corrected).simplified();
        for (int c = 0; c < bounds.length; c++) {
            if (!found.isEqual(reference, c, bounds[c], steps.get(c))) {
                return Optional.empty();
            }
        }
        return Optional.of(found);
    }

    /**
     * Chooses a channel's constants from the places where the reference steps. The product loses its low bits, which
     * may shift a step by one; a neighbouring multiplier loses other bits.
     */
    private Optional<ProvenRescale.Channel> channel(int c) {
        long nearest = reference.nearestMultiplier(c, scaleBits, shift);
        for (int i = 0; i <= 2 * MOST_NEIGHBOURS; i++) {
            long multiplier = nearest + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);
            if (multiplier >= 0 && multiplier <= Integer.MAX_VALUE && leavesRoom(c, (int) multiplier)) {
                Optional<ProvenRescale.Channel> found = channel(c, (int) multiplier);
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    /** False if sums reach only one side of the steps, and the exact offset on that side is too large. */
    private boolean leavesRoom(int c, int multiplier) {
        long[] reached = steps.get(c);
        int zero = reference.requantization().outputZeroPoint();
        int first = signed ? Math.max(0, zero - reference.low()) : 0;
        if (first >= reached.length) {
            return true;
        }
        boolean hasLeast = reached[first] <= bounds[c];
        boolean hasMost = reached[reached.length - 1] > -bounds[c];
        long exact = exactOffset(c, multiplier);
        return (hasMost || exact <= MOST_OFFSET) && (hasLeast || exact >= -MOST_OFFSET);
    }

    private long exactOffset(int c, int multiplier) {
        long real = Math.round(Math.scalb(reference.requantization().offset(c), shift));
        return (((long) reference.bias().get(c) * multiplier) >> (32 - scaleBits)) + real + (signed ? 0 : rounding);
    }

    /** Steps that rejected a multiplier usually reject the next one too, so they are tried first. */
    private Optional<ProvenRescale.Channel> channel(int c, int multiplier) {
        Range above = new Range();
        Range below = new Range();
        int count = steps.get(c).length;
        for (int i = -2; i < count; i++) {
            // Then from both ends inwards: unsuitable multipliers usually fail at steps far apart.
            int step = i < 0 ? refusing[i + 2] : i % 2 == 0 ? i / 2 : count - 1 - i / 2;
            if (step < count && !narrow(c, multiplier, step, above, below)) {
                return Optional.empty();
            }
        }
        return place(c, multiplier, above, below);
    }

    /** Keeps the offsets that make a step correct; false if none is left. */
    private boolean narrow(int c, int multiplier, int step, Range above, Range below) {
        int value = reference.low() + 1 + step;
        long first = steps.get(c)[step];
        boolean isCorrected = switch (corrected) {
            case NEGATIVE -> value <= reference.requantization().outputZeroPoint();
            case ODD -> (value & 1) == 1;
            case EVEN -> (value & 1) == 0;
            case NONE, LISTED -> false;
        };
        Range range = isCorrected ? below : above;
        long wanted = ((long) value << shift) - (signed ? rounding : 0);
        if (first <= bounds[c]) {
            range.atLeast(wanted - ProvenRescale.highMul(first, multiplier, scaleBits), step);
        }
        if (first > -bounds[c]) {
            range.atMost(wanted - 1 - ProvenRescale.highMul(first - 1, multiplier, scaleBits), step);
        }
        if (range.least > range.most || above.least > MOST_OFFSET || above.most < -MOST_OFFSET) {
            refusing[0] = range.leastStep;
            refusing[1] = range.mostStep;
            return false;
        }
        return true;
    }

    /** Offsets that make all steps correct; the correction compensates for the difference. */
    private Optional<ProvenRescale.Channel> place(int c, int multiplier, Range above, Range below) {
        long exact = exactOffset(c, multiplier);
        long offset = above.isBounded() || !signed ? above.nearest(exact) : below.nearest(exact);
        long difference = below.isBounded() ? offset - below.nearest(offset) : 0;
        if (difference < 0 && !below.contains(offset)) {
            // What is corrected is only lowered, so that an offset for all values is needed.
            Range both = above.and(below);
            if (both.least > both.most) {
                return Optional.empty();
            }
            offset = both.nearest(exact);
        }
        long correction = Math.max(0, difference);
        long mostCorrection = signed ? MOST_OFFSET : 1L << shift; // so that results still rise
        return Math.abs(offset) <= MOST_OFFSET && correction <= mostCorrection
                ? Optional.of(new ProvenRescale.Channel(multiplier, (int) offset, List.of((int) correction)))
                : Optional.empty();
    }

    /** The possible values of an offset. */
    private static final class Range {
        private static final long FAR = 1L << 40;
        private long least = -FAR;
        private long most = FAR;
        private int leastStep;
        private int mostStep;

        void atLeast(long offset, int step) {
            if (offset > least) {
                least = offset;
                leastStep = step;
            }
        }

        void atMost(long offset, int step) {
            if (offset < most) {
                most = offset;
                mostStep = step;
            }
        }

        boolean isBounded() {
            return least > -FAR || most < FAR;
        }

        boolean contains(long offset) {
            return offset >= least && offset <= most;
        }

        /** The offsets in both. */
        Range and(Range other) {
            Range both = new Range();
            both.atLeast(Math.max(least, other.least), 0);
            both.atMost(Math.min(most, other.most), 0);
            return both;
        }

        /** The middle; if there is none because sums reach only one side, the value nearest to the exact one. */
        long nearest(long exact) {
            return least > -FAR && most < FAR ? Math.floorDiv(least + most, 2) : Math.max(least, Math.min(most, exact));
        }
    }
}
