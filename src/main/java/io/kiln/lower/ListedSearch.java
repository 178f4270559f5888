// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.lower.ProvenRequantize.Channel;
import io.kiln.lower.ProvenRequantize.Corrected;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Searches for the constants of a {@link ProvenRequantize} that lists the values just below a step that it would take too
 * early. Single precision takes products within half of its last place from a half for halves, and rounds these to even. No constants alone
 * reproduce that in every channel.
 */
final class ListedSearch {
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
        int most = channels.stream().mapToInt(c -> c.corrections().size()).max().orElse(0);
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
