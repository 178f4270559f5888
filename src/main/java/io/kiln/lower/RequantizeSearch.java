// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.lower.ProvenRequantize.Corrected;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Searches for the constants of a {@link ProvenRequantize} with a given shift. */
final class RequantizeSearch {
    /** Largest distance of tried multipliers from the exact one. */
    private static final int MOST_NEIGHBOURS = 1000;
    /** Largest offset; larger ones leave no room for the product in 32 bits. */
    private static final long MOST_OFFSET = 1L << 30;

    private final ProvenRequantize.Reference reference;
    private final long[] bounds;
    private final List<long[]> steps;
    private final int scaleBits;
    private final int shift;
    private final Corrected corrected;
    private final boolean signed;
    private final long rounding;
    /** By step: what the offset and the product must add up to. */
    private final long[] wanted;

    private final boolean[] isCorrected;
    private final int[] refusing = new int[2];

    RequantizeSearch(
            ProvenRequantize.Reference reference,
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
        this.wanted = new long[Math.max(0, reference.high() - reference.low())];
        this.isCorrected = new boolean[wanted.length];
        for (int step = 0; step < wanted.length; step++) {
            int value = reference.low() + 1 + step;
            wanted[step] = ((long) value << shift) - (signed ? rounding : 0);
            isCorrected[step] = isCorrected(value);
        }
    }

    private boolean isCorrected(int value) {
        return switch (corrected) {
            case NEGATIVE -> value <= reference.requantization().outputZeroPoint();
            case ODD -> (value & 1) == 1;
            case EVEN -> (value & 1) == 0;
            case NONE, LISTED -> false;
        };
    }

    Optional<ProvenRequantize> run() {
        List<ProvenRequantize.Channel> channels = new ArrayList<>();
        for (int c = 0; c < bounds.length; c++) {
            Optional<ProvenRequantize.Channel> channel = channel(c);
            if (channel.isEmpty()) {
                return Optional.empty();
            }
            channels.add(channel.get());
        }
        ProvenRequantize found =
                new ProvenRequantize(scaleBits, channels, signed ? (int) rounding : 0, shift, corrected).simplified();
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
    private Optional<ProvenRequantize.Channel> channel(int c) {
        long nearest = reference.nearestMultiplier(c, scaleBits, shift);
        for (int i = 0; i <= 2 * MOST_NEIGHBOURS; i++) {
            long multiplier = nearest + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);
            if (multiplier >= 0 && multiplier <= Integer.MAX_VALUE && leavesRoom(c, (int) multiplier)) {
                Optional<ProvenRequantize.Channel> found = channel(c, (int) multiplier);
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    /** False if accumulators reach only one side of the steps, and the exact offset on that side is too large. */
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
    private Optional<ProvenRequantize.Channel> channel(int c, int multiplier) {
        Range above = new Range();
        Range below = new Range();
        long[] reached = steps.get(c);
        for (int i = -2; i < reached.length; i++) {
            // Then from both ends inwards: unsuitable multipliers usually fail at steps far apart.
            int step = i < 0 ? refusing[i + 2] : i % 2 == 0 ? i / 2 : reached.length - 1 - i / 2;
            if (step < reached.length) {
                Range range = isCorrected[step] ? below : above;
                narrow(range, multiplier, step, reached[step], bounds[c]);
                if (range.least > range.most || above.least > MOST_OFFSET || above.most < -MOST_OFFSET) {
                    refusing[0] = range.leastStep;
                    refusing[1] = range.mostStep;
                    return Optional.empty();
                }
            }
        }
        return place(c, multiplier, above, below);
    }

    /** Keeps the offsets that make a step correct. */
    private void narrow(Range range, int multiplier, int step, long first, long bound) {
        long product = (first << scaleBits) * multiplier;
        if (first <= bound) {
            long least = wanted[step] - (product >> 32);
            if (least > range.least) {
                range.least = least;
                range.leastStep = step;
            }
        }
        if (first > -bound) {
            long most = wanted[step] - 1 - ((product - ((long) multiplier << scaleBits)) >> 32);
            if (most < range.most) {
                range.most = most;
                range.mostStep = step;
            }
        }
    }

    /** Offsets that make all steps correct; the correction compensates for the difference. */
    private Optional<ProvenRequantize.Channel> place(int c, int multiplier, Range above, Range below) {
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
                ? Optional.of(new ProvenRequantize.Channel(multiplier, (int) offset, List.of((int) correction)))
                : Optional.empty();
    }

    /** The possible values of an offset. */
    private static final class Range {
        private static final long FAR = 1L << 40;
        private long least = -FAR;
        private long most = FAR;
        private int leastStep;
        private int mostStep;

        boolean isBounded() {
            return least > -FAR || most < FAR;
        }

        boolean contains(long offset) {
            return offset >= least && offset <= most;
        }

        /** The offsets that lie in both ranges. */
        Range and(Range other) {
            Range both = new Range();
            both.least = Math.max(least, other.least);
            both.most = Math.min(most, other.most);
            return both;
        }

        /** The middle; if there is none because accumulators reach only one side, the value nearest to the exact one. */
        long nearest(long exact) {
            return least > -FAR && most < FAR ? Math.floorDiv(least + most, 2) : Math.max(least, Math.min(most, exact));
        }
    }
}
