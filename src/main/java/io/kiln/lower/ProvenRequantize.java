// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.FixedPoint;
import io.kiln.ir.op.Rounding;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntToLongFunction;
import java.util.function.LongToIntFunction;

/**
 * The requantization of an accumulator to int8 in the fewest instructions, proven equal to the reference:
 *
 * <pre>
 * high   = offset + floor((acc * 2^scaleBits) * multiplier / 2^32)      one SMMLA, or MULH and ADD
 * high  -= correction                                                        of some values, see Corrected
 * result = clamp((high + lateOffset) >> shift, low, high)                     one SSAT with a shift
 * </pre>
 *
 * <p>The accumulator excludes its bias, which is in the channel's constants. The reference adds the bias, rounds
 * (TFLite twice, others once) and adds the zero point. TFLite rounds halves away from zero, so that negative values are
 * corrected; ONNX Runtime rounds values that it takes for halves to even, so that odd results are corrected. Both are
 * monotone step functions of the accumulator with at most
 * 255 steps, so they are equal if they step at the same places: {@link #find} computes where the reference steps for
 * every channel, chooses the offset so that this function steps there too, and checks each step on both sides. One
 * {@code shift} serves all channels, so that it can be an immediate of the instruction.
 *
 * @param scaleBits the accumulator is scaled by this power of two
 * @param channels constants of each channel
 * @param lateOffset rounding and zero point if negative values are corrected, otherwise 0
 * @param shift bits to the right, 1 to 22
 * @param corrected which values are corrected
 */
public record ProvenRequantize(int scaleBits, List<Channel> channels, int lateOffset, int shift, Corrected corrected)
        implements RequantizeConstants {
    /** Which values get the correction. */
    public enum Corrected {
        NONE,
        /** Values below zero. */
        NEGATIVE,
        /** Values whose result would be odd. */
        ODD,
        /** Values whose result would be even. */
        EVEN,
        /** Values that a channel lists; they are corrected by half a step. */
        LISTED
    }

    private static final int MOST_SHIFT = 22;
    private static final int MOST_SCALE_BITS = 16;
    /**
     * Most bits by which a shift is reduced in the search. A smaller shift leaves room for large offsets, but places steps more
     * coarsely; much smaller ones never help.
     */
    private static final int MOST_FEWER_SHIFTS = 6;

    /** Scales and shifts are multiples of it where possible: layers share a kernel that has the same ones as immediates. */
    private static final int ALIKE = 4;

    public ProvenRequantize {
        channels = List.copyOf(channels);
    }

    /**
     * Constants of a channel.
     *
     * @param multiplier Q31 or smaller
     * @param offset bias, rounding and, without a late offset, the zero point, in units of {@code 2^-shift}
     * @param corrections what is subtracted from negative values, so that halves round away from zero, 0 if the lower limit
     *     hides the difference, as after a ReLU; or from odd or even ones; or the listed values, as many
     *     in each channel
     */
    public record Channel(int multiplier, int offset, List<Integer> corrections) {
        public Channel {
            corrections = List.copyOf(corrections);
        }

        private int correction() {
            return corrections.get(0);
        }
    }

    /** The reference's function for the channels of one operator. */
    public record Reference(Requantization requantization, List<Integer> bias, int low, int high) {
        public Reference {
            bias = List.copyOf(bias);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Reference reference
                    && requantization.equals(reference.requantization)
                    && bias.equals(reference.bias)
                    && low == reference.low
                    && high == reference.high;
        }

        @Override
        public int hashCode() {
            return 31 * (31 * (31 * requantization.hashCode() + bias.hashCode()) + low) + high;
        }

        int multiplier(int channel) {
            return requantization.multiplier(channel);
        }

        int leftShift(int channel) {
            return requantization.shift(channel);
        }

        /** The multiplier nearest to the exact one for a scaled accumulator and a shift. */
        long nearestMultiplier(int channel, int scaleBits, int shift) {
            int down = scaleBits - 1 - leftShift(channel) - shift;
            long m = multiplier(channel);
            return down <= 0 ? m : down > 31 ? 0 : (m + (1L << (down - 1))) >> down;
        }

        /** The offset that is added to a channel's accumulator before it is requantized. */
        long offset(int channel) {
            return (long) bias.get(channel) - requantization.inputZeroPoint();
        }

        /** The reference's results of a channel for accumulators without their bias. */
        LongToIntFunction results(int channel) {
            long offset = offset(channel);
            IntToLongFunction rescaling = requantization.rescaling(channel);
            return acc -> FixedPoint.clamp(
                    rescaling.applyAsLong((int) (acc + offset)) + requantization.outputZeroPoint(), low, high);
        }
    }

    /**
     * Searches for constants that make this function equal to the reference. The larger the accumulator's scale, the
     * finer the steps can be placed; it is scaled as far as 32 bits allow.
     *
     * @param bounds largest magnitude of each channel's accumulator, without the bias
     * @return the constants; empty if the ranges do not allow any
     */
    public static Optional<ProvenRequantize> find(Reference reference, List<Long> bounds) {
        return find(reference, bounds, MOST_SCALE_BITS);
    }

    /**
     * Searches for constants with an accumulator scaled no further than the kernel can do at no cost.
     *
     * @param mostScaleBits largest power of two
     */
    public static Optional<ProvenRequantize> find(Reference reference, List<Long> bounds, int mostScaleBits) {
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
        List<Corrected> corrections = r.rounding() == Rounding.ONNX
                ? List.of(Corrected.NONE, (r.outputZeroPoint() & 1) == 0 ? Corrected.ODD : Corrected.EVEN)
                : List.of(reference.low() < r.outputZeroPoint() ? Corrected.NEGATIVE : Corrected.NONE);
        List<long[]> steps = new ArrayList<>();
        for (int c = 0; c < bounds.size(); c++) {
            steps.add(RequantizeSteps.of(reference, c, bounds.get(c)));
        }
        int finer = scaleBits < mostScaleBits ? scaleBits % ALIKE : 0;
        int alike = Math.floorDiv(most - finer, ALIKE) * ALIKE;
        if (alike >= ALIKE) {
            Optional<ProvenRequantize> found =
                    new RequantizeSearch(reference, bounds, steps, scaleBits - finer, alike, corrections.get(0)).run();
            if (found.isPresent()) {
                return found;
            }
        }
        for (int shift = most; shift >= Math.max(1, most - MOST_FEWER_SHIFTS); shift--) {
            for (Corrected corrected : corrections) {
                Optional<ProvenRequantize> found =
                        new RequantizeSearch(reference, bounds, steps, scaleBits, shift, corrected).run();
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return r.rounding() == Rounding.ONNX ? listed(reference, bounds, steps, scaleBits, most) : Optional.empty();
    }

    private static Optional<ProvenRequantize> listed(
            Reference reference, List<Long> bounds, List<long[]> steps, int scaleBits, int most) {
        for (int shift = most; shift >= Math.max(1, most - MOST_FEWER_SHIFTS); shift--) {
            Optional<ProvenRequantize> found =
                    new RequantizeSearch.ListedSearch(reference, bounds, steps, scaleBits, shift).run();
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /** Whether some values are corrected. */
    public boolean hasCorrections() {
        return corrected != Corrected.NONE;
    }

    /** Number of corrections of each channel. */
    public int corrections() {
        return channels.get(0).corrections().size();
    }

    /** A channel's constants in the kernel's order: multiplier, offset and, if there are corrections, the channel's. */
    @Override
    public List<Integer> constants(int channel) {
        Channel c = channels.get(channel);
        List<Integer> constants = new ArrayList<>(List.of(c.multiplier(), c.offset()));
        constants.addAll(c.corrections());
        return constants;
    }

    /** Largest magnitude of a result before the limits, for accumulators up to a bound. */
    public long mostMagnitude(int channel, long bound) {
        Channel c = channels.get(channel);
        long high = Math.abs((long) c.offset()) + highMul(bound, c.multiplier(), scaleBits) + 1;
        long corrections = corrected == Corrected.LISTED
                ? 1L << shift
                : Math.abs((long) c.corrections().stream().findFirst().orElse(0));
        return ((high + corrections + Math.abs((long) lateOffset)) >> shift) + 1;
    }

    /** The function as computed by the kernels; low and high are the reference's limits. */
    int apply(int channel, long acc, int low, int high) {
        return result(channels.get(channel), acc, low, high);
    }

    private int result(Channel channel, long acc, int low, int high) {
        return FixedPoint.clamp(step(channel, acc) >> shift, low, high);
    }

    private long step(Channel c, long acc) {
        long high = c.offset() + highMul(acc, c.multiplier(), scaleBits);
        return (corrected == Corrected.NONE ? high : corrected(high, c)) + lateOffset;
    }

    private long corrected(long high, Channel c) {
        return switch (corrected) {
            case NONE -> high;
            case NEGATIVE -> high - (high < 0 ? c.correction() : 0);
            case EVEN -> high - ((high >> shift & 1) == 0 ? c.correction() : 0);
            case ODD -> high - ((high >> shift & 1) == 1 ? c.correction() : 0);
            case LISTED -> high - (c.corrections().contains((int) high) ? 1L << (shift - 1) : 0);
        };
    }

    static long highMul(long acc, int multiplier, int scaleBits) {
        return ((acc << scaleBits) * multiplier) >> 32;
    }

    /** Constants without a late offset if nothing is corrected before it. */
    ProvenRequantize simplified() {
        if (channels.stream().anyMatch(c -> c.correction() != 0)) {
            return this;
        }
        List<Channel> moved = channels.stream()
                .map(c -> new Channel(c.multiplier(), Math.addExact(c.offset(), lateOffset), List.of()))
                .toList();
        return new ProvenRequantize(scaleBits, moved, 0, shift, Corrected.NONE);
    }

    /** Checks both sides of every step, both ends, and that no sum leaves 32 bits. */
    boolean isEqual(Reference reference, int channel, long bound, long[] steps) {
        Channel c = channels.get(channel);
        if (!fits(c, bound) || !fits(c, -bound)) {
            return false;
        }
        for (int i = 0; i < steps.length; i++) {
            // The limits are on both sides of the value, so that they do not matter here.
            int value = reference.low() + 1 + i;
            long first = steps[i];
            if ((first <= bound && step(c, first) >> shift < value)
                    || (first > -bound && step(c, first - 1) >> shift >= value)) {
                return false;
            }
        }
        return true;
    }

    private boolean fits(Channel c, long acc) {
        long high = c.offset() + highMul(acc, c.multiplier(), scaleBits);
        long inRange = corrected(high, c);
        long step = inRange + lateOffset;
        return high == (int) high && inRange == (int) inRange && step == (int) step;
    }
}
