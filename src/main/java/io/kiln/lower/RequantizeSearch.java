// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.lower.ProvenRequantize.Channel;
import io.kiln.lower.ProvenRequantize.Corrected;
import java.util.ArrayList;
import java.util.Collections;
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

    /**
     * Searches for the constants of a {@link ProvenRequantize} that lists the values just below a step that it would take too
     * early. Single precision takes products within half of its last place from a half for halves, and rounds these to even. No constants alone
     * reproduce that in every channel.
     */
    static final class ListedSearch {
        /** Most values that a channel may list. Smaller scales list more values, but layers with such large sums also have many products. */
        private static final int MOST_LISTED = 8;
        /** Largest distance of tried multipliers from the exact one; those farther away step at other places. */
        private static final int MOST_NEIGHBOURS = 100;

        private static final int MOST_OFFSET = 1 << 30;

        private final ProvenRequantize.Reference reference;
        private final List<Long> bounds;
        private final List<long[]> steps;
        private final int scaleBits;
        private final int shift;

        ListedSearch(
                ProvenRequantize.Reference reference, List<Long> bounds, List<long[]> steps, int scaleBits, int shift) {
            this.reference = reference;
            this.bounds = bounds;
            this.steps = steps;
            this.scaleBits = scaleBits;
            this.shift = shift;
        }

        Optional<ProvenRequantize> run() {
            List<Channel> channels = new ArrayList<>();
            for (int c = 0; c < bounds.size(); c++) {
                Optional<Channel> channel = channel(c);
                if (channel.isEmpty()) {
                    return Optional.empty();
                }
                channels.add(channel.get());
            }
            int most = channels.stream()
                    .mapToInt(c -> c.corrections().size())
                    .max()
                    .orElse(0);
            List<Channel> padded = channels.stream().map(c -> padded(c, most)).toList();
            Corrected corrected = most == 0 ? Corrected.NONE : Corrected.LISTED;
            ProvenRequantize found = new ProvenRequantize(scaleBits, padded, 0, shift, corrected);
            for (int c = 0; c < bounds.size(); c++) {
                if (!found.isEqual(reference, c, bounds.get(c), steps.get(c))) {
                    return Optional.empty();
                }
            }
            return Optional.of(found);
        }

        /** Fills a channel's list of corrected values up to a count with the least int32, which no value equals: offsets and products are too small. */
        private static Channel padded(Channel channel, int count) {
            List<Integer> corrections = new ArrayList<>(channel.corrections());
            corrections.addAll(Collections.nCopies(count - corrections.size(), Integer.MIN_VALUE));
            return new Channel(channel.multiplier(), channel.offset(), corrections);
        }

        /** The constants that list the fewest values. */
        private Optional<Channel> channel(int c) {
            long nearest = reference.nearestMultiplier(c, scaleBits, shift);
            Optional<Channel> best = Optional.empty();
            int limit = MOST_LISTED;
            for (int i = 0; i <= 2 * MOST_NEIGHBOURS && limit >= 0; i++) {
                long multiplier = nearest + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);
                Optional<Channel> found = multiplier >= 0 && multiplier <= Integer.MAX_VALUE
                        ? channel(c, (int) multiplier, limit)
                        : Optional.empty();
                if (found.isPresent()) {
                    best = found;
                    limit = found.get().corrections().size() - 1;
                }
            }
            return best;
        }

        /** The smallest offset that takes every step in time, and the values for which it steps too early. */
        private Optional<Channel> channel(int c, int multiplier, int limit) {
            long offset = offset(c, multiplier);
            List<Integer> listed = new ArrayList<>();
            for (int i = 0; i < steps.get(c).length; i++) {
                long below = steps.get(c)[i] - 1;
                long high = offset + ProvenRequantize.highMul(below, multiplier, scaleBits);
                long tooFar = high - wanted(i);
                if (below < -bounds.get(c) || tooFar < 0) {
                    continue;
                }
                if (listed.size() == limit || tooFar >= 1L << (shift - 1) || !isDistinct(multiplier)) {
                    return Optional.empty();
                }
                listed.add((int) high);
            }
            return Math.abs(offset) <= MOST_OFFSET
                    ? Optional.of(new Channel(multiplier, (int) offset, listed))
                    : Optional.empty();
        }

        /** Whether neighbouring accumulators have different values. */
        private boolean isDistinct(int multiplier) {
            return ((long) multiplier << scaleBits) >> 32 > 0;
        }

        /** The smallest offset that takes every step in time; if no accumulator reaches the lowest step, the largest offset that takes none. */
        private long offset(int c, int multiplier) {
            long least = Long.MIN_VALUE;
            for (int i = 0; i < steps.get(c).length && steps.get(c)[i] <= bounds.get(c); i++) {
                least = Math.max(least, wanted(i) - ProvenRequantize.highMul(steps.get(c)[i], multiplier, scaleBits));
            }
            return least == Long.MIN_VALUE
                    ? wanted(0) - 1 - ProvenRequantize.highMul(bounds.get(c), multiplier, scaleBits)
                    : least;
        }

        private long wanted(int step) {
            return (long) (reference.low() + 1 + step) << shift;
        }
    }
}
