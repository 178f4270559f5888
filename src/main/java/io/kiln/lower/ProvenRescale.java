// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.FixedPoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The rescaling of an accumulator to int8 in the fewest instructions, proven equal to the reference:
 *
 * <pre>
 * high   = offset + floor((acc * 2^scaleBits) * multiplier / 2^32)      one SMMLA, or MULH and ADD
 * high  -= high &lt; 0 ? negative : 0                                      only where hasNegatives
 * result = clamp((high + lateOffset) >> shift, low, high)                     one SSAT with a shift
 * </pre>
 *
 * <p>The accumulator excludes its bias, which is in the channel's constants. The reference adds the bias, rounds
 * (TFLite twice, others once) and adds the zero point. Both are monotone step functions of the accumulator with at most
 * 255 steps, so they are equal if they step at the same places: {@link #find} computes where the reference steps for
 * every channel, chooses the offset so that this function steps there too, and checks each step on both sides. One
 * {@code shift} serves all channels, so that it can be an immediate of the instruction.
 *
 * @param scaleBits the accumulator is scaled by this power of two
 * @param channels constants of each channel
 * @param lateOffset rounding and zero point if negative values are corrected, otherwise 0
 * @param shift bits to the right, 1 to 22
 */
public record ProvenRescale(int scaleBits, List<Channel> channels, int lateOffset, int shift) {
    private static final int MOST_SHIFT = 22;
    private static final int MOST_SCALE_BITS = 16;
    /** A smaller shift leaves room for large offsets, but places steps more coarsely; much smaller ones never help. */
    private static final int MOST_FEWER_SHIFTS = 6;

    public ProvenRescale {
        channels = List.copyOf(channels);
    }

    /**
     * Constants of a channel.
     *
     * @param multiplier Q31 or smaller
     * @param offset bias, rounding and, without a late offset, the zero point, in units of {@code 2^-shift}
     * @param negative subtracted from negative values so that halves round away from zero; 0 if the lower limit hides
     *     the difference, as after a ReLU
     */
    public record Channel(int multiplier, int offset, int negative) {}

    /** The reference's function for the channels of one operator. */
    public record Reference(Requantization requantization, List<Integer> bias, int low, int high) {
        public Reference {
            bias = List.copyOf(bias);
        }

        int multiplier(int channel) {
            return requantization.multipliers().get(requantization.isPerChannel() ? channel : 0);
        }

        int leftShift(int channel) {
            return requantization.shifts().get(requantization.isPerChannel() ? channel : 0);
        }

        /** The reference's result for an accumulator without its bias. */
        int apply(int channel, long acc) {
            int sum = (int) (acc + bias.get(channel) - requantization.inputZeroPoint());
            return FixedPoint.clamp(requantization.rescale(channel, sum) + requantization.outputZeroPoint(), low, high);
        }
    }

    /**
     * Searches for constants that make this function equal to the reference. The larger the accumulator's scale, the
     * finer the steps can be placed; it is scaled as far as 32 bits allow.
     *
     * @param bounds largest magnitude of each channel's accumulator, without the bias
     * @return the constants; empty if the ranges do not allow any
     */
    public static Optional<ProvenRescale> find(Reference reference, List<Long> bounds) {
        return find(reference, bounds, MOST_SCALE_BITS);
    }

    /**
     * Searches for constants with an accumulator scaled no further than the kernel can do at no cost.
     *
     * @param mostScaleBits largest power of two
     */
    public static Optional<ProvenRescale> find(Reference reference, List<Long> bounds, int mostScaleBits) {
        Requantization r = reference.requantization();
        int scaleBits = mostScaleBits;
        int most = MOST_SHIFT;
        for (int c = 0; c < bounds.size(); c++) {
            long sum = bounds.get(c) + Math.abs((long) reference.bias().get(c)) + Math.abs((long) r.inputZeroPoint());
            if (reference.multiplier(c) < 0 || sum > Integer.MAX_VALUE >> Math.max(0, reference.leftShift(c))) {
                return Optional.empty();
            }
            scaleBits = Math.min(scaleBits, Long.numberOfLeadingZeros(Math.max(1, bounds.get(c))) - 33);
        }
        for (int c = 0; c < bounds.size(); c++) {
            // A multiplier of 0, for channels without weights, fits any shift.
            if (reference.multiplier(c) > 0) {
                most = Math.min(most, scaleBits - 1 - reference.leftShift(c));
            }
        }
        boolean hidden = reference.low() >= r.outputZeroPoint();
        List<long[]> steps = new ArrayList<>();
        for (int c = 0; c < bounds.size(); c++) {
            steps.add(steps(reference, c, bounds.get(c)));
        }
        for (int shift = most; shift >= Math.max(1, most - MOST_FEWER_SHIFTS); shift--) {
            Optional<ProvenRescale> found =
                    new RescaleSearch(reference, bounds, steps, scaleBits, shift, !hidden).run();
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /** Whether negative values need their correction. */
    public boolean hasNegatives() {
        return channels.stream().anyMatch(c -> c.negative() != 0);
    }

    /**
     * A channel's constants in the kernel's order: multiplier, offset and, if there is any, the correction of negative
     * values.
     */
    public List<Integer> constants(int channel) {
        Channel c = channels.get(channel);
        return hasNegatives() ? List.of(c.multiplier(), c.offset(), c.negative()) : List.of(c.multiplier(), c.offset());
    }

    /** The function as computed by the kernels; low and high are the reference's limits. */
    public int apply(int channel, long acc, int low, int high) {
        return FixedPoint.clamp(step(channel, acc) >> shift, low, high);
    }

    private long step(int channel, long acc) {
        Channel c = channels.get(channel);
        long high = c.offset() + highMul(acc, c.multiplier(), scaleBits);
        return high - (high < 0 ? c.negative() : 0) + lateOffset;
    }

    static long highMul(long acc, int multiplier, int scaleBits) {
        return ((acc << scaleBits) * multiplier) >> 32;
    }

    /** Constants without a late offset if nothing is corrected before it. */
    ProvenRescale simplified() {
        if (hasNegatives()) {
            return this;
        }
        List<Channel> moved = channels.stream()
                .map(c -> new Channel(c.multiplier(), Math.addExact(c.offset(), lateOffset), 0))
                .toList();
        return new ProvenRescale(scaleBits, moved, 0, shift);
    }

    /**
     * For each value above the lowest, the first accumulator at which the reference reaches it. Steps are about equally
     * wide.
     */
    private static long[] steps(Reference reference, int channel, long bound) {
        long[] steps = new long[Math.max(0, reference.high() - reference.low())];
        long last = -bound;
        long width = 1;
        for (int i = 0; i < steps.length; i++) {
            steps[i] = firstAtLeast(reference, channel, bound, reference.low() + 1 + i, last, last + width);
            width = steps[i] - last;
            last = steps[i];
        }
        return steps;
    }

    /**
     * First accumulator for which the reference reaches a value; one past the bound if none does.
     *
     * @param from no accumulator below it reaches the value
     * @param guess start of the search
     */
    private static long firstAtLeast(Reference reference, int channel, long bound, int value, long from, long guess) {
        long below = from - 1;
        long reached = bound + 1;
        long probe = Math.max(from, Math.min(bound, guess));
        for (long reach = 1; reached - below > 1; reach *= 2) {
            boolean isReached = reference.apply(channel, probe) >= value;
            if (isReached) {
                reached = probe;
            } else {
                below = probe;
            }
            boolean isBetweenProbes = below >= from && reached <= bound;
            probe = isBetweenProbes
                    ? Math.floorDiv(below + reached, 2)
                    : isReached ? Math.max(from, probe - reach) : Math.min(bound, probe + reach);
        }
        return reached;
    }

    /** Checks both sides of every step, both ends, and that no sum leaves 32 bits. */
    boolean isEqual(Reference reference, int channel, long bound, long[] steps) {
        if (!fits(channel, bound) || !fits(channel, -bound)) {
            return false;
        }
        for (int value = reference.low() + 1; value <= reference.high(); value++) {
            long first = steps[value - reference.low() - 1];
            if ((first <= bound && apply(channel, first, reference.low(), reference.high()) < value)
                    || (first > -bound && apply(channel, first - 1, reference.low(), reference.high()) >= value)) {
                return false;
            }
        }
        return true;
    }

    private boolean fits(int channel, long acc) {
        Channel c = channels.get(channel);
        long high = c.offset() + highMul(acc, c.multiplier(), scaleBits);
        long corrected = high - (high < 0 ? c.negative() : 0);
        long step = corrected + lateOffset;
        return high == (int) high && corrected == (int) corrected && step == (int) step;
    }
}
