// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A requantization as {@code (acc * multiplier + offset) >> shift} in 64 bits, proven equal to the reference for all accumulators
 * within bounds: it steps where the reference steps.
 *
 * @param channels constants of each channel
 */
public record FloorRequantize(List<Channel> channels) implements RequantizeConstants {
    /** Largest distance of tried multipliers from the exact one. */
    private static final int MOST_NEIGHBOURS = 500;
    /** Wider shifts leave no room for steps in 64 bits. */
    private static final int MOST_SHIFT = 46;

    private static final int WORD = 32;

    public FloorRequantize {
        channels = List.copyOf(channels);
    }

    /** Constants of a channel: a multiplier from 0 to 2^31 - 1, an offset below 2^62 and a shift of 1 to 46 bits. */
    record Channel(int multiplier, long offset, int shift) {}

    /**
     * Searches for constants that make this function equal to the reference.
     *
     * @param reference results less their zero point are in 17 bits
     * @param bound largest magnitude of the accumulators
     * @return the constants; empty if the reference rounds some halves up and others down
     */
    public static Optional<FloorRequantize> find(ProvenRequantize.Reference reference, int channels, long bound) {
        List<Channel> found = new ArrayList<>();
        for (int c = 0; c < channels; c++) {
            Optional<Channel> channel = channel(reference, c, bound);
            if (channel.isEmpty()) {
                return Optional.empty();
            }
            found.add(channel.get());
        }
        return Optional.of(new FloorRequantize(found));
    }

    /**
     * The same function with the zero point in the offsets, and shifts of at least 32 bits, for kernels that take the high word of
     * multiplier times accumulator plus offset; empty if a shift is smaller.
     */
    public Optional<FloorRequantize> ofHighWords(int zeroPoint) {
        return channels.stream().anyMatch(c -> c.shift() < WORD)
                ? Optional.empty()
                : Optional.of(new FloorRequantize(channels.stream()
                        .map(c -> new Channel(c.multiplier(), c.offset() + ((long) zeroPoint << c.shift()), c.shift()))
                        .toList()));
    }

    /** Multiplier, low and high word of the offset, and the shift of the high word. */
    @Override
    public List<Integer> constants(int channel) {
        Channel c = channels.get(channel);
        return List.of(c.multiplier(), (int) c.offset(), (int) (c.offset() >> WORD), c.shift() - WORD);
    }

    private static Optional<Channel> channel(ProvenRequantize.Reference reference, int c, long bound) {
        int exact = 31 - reference.leftShift(c);
        int shift = Math.min(exact, MOST_SHIFT);
        if (shift < 1) {
            return Optional.empty();
        }
        long nearest = reference.multiplier(c) >> (exact - shift);
        long[] steps = RequantizeSteps.of(reference, c, bound);
        for (int i = 0; i <= 2 * MOST_NEIGHBOURS; i++) {
            long multiplier = nearest + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);
            if (multiplier >= 0 && multiplier <= Integer.MAX_VALUE) {
                Optional<Channel> found = offset(reference, steps, bound, (int) multiplier, shift);
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    /** The offset nearest to one half with which a multiplier steps as the reference does. */
    private static Optional<Channel> offset(
            ProvenRequantize.Reference reference, long[] steps, long bound, int multiplier, int shift) {
        long least = -(1L << 61);
        long most = 1L << 61;
        for (int i = 0; i < steps.length && least <= most; i++) {
            long wanted =
                    (long) (reference.low() + 1 + i - reference.requantization().outputZeroPoint()) << shift;
            if (steps[i] <= bound) {
                least = Math.max(least, wanted - steps[i] * multiplier);
            }
            if (steps[i] > -bound) {
                most = Math.min(most, wanted - 1 - (steps[i] - 1) * multiplier);
            }
        }
        long half = 1L << (shift - 1);
        return least <= most
                ? Optional.of(new Channel(multiplier, Math.max(least, Math.min(most, half)), shift))
                : Optional.empty();
    }
}
