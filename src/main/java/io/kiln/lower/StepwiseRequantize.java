// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.FixedPoint;
import io.kiln.ir.op.Rounding;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The requantization of an accumulator to int8 in the reference's own steps, for channels for which no {@link ProvenRequantize} is found.
 * It takes a shift for each channel and about three instructions more:
 *
 * <pre>
 * x      = acc * 2^left + bias
 * high   = offset + floor((x * multiplier + (2^31 if it is rounded)) / 2^32)     one SMMLAR or SMMLA
 * high  -= step of the sign if x is below zero
 * result = clamp(high >> shift, low, high)
 * </pre>
 *
 * <p>With {@code left} 1 the rounded high word is TFLite's saturating rounding doubling high multiply, and the shift its rounding
 * division, which takes halves away from zero. Rounding once, halves upward, needs neither, because a floor of a floor is
 * exact; for the same reason accumulators may be scaled further if offset, step and shift are.
 *
 * @param left bits by which accumulators are scaled, 1 to 31
 * @param isRounded whether the high word is rounded
 * @param signStep power of two by which negative values are lowered; 0 if halves are not taken away from zero, or if the lower limit hides the difference
 * @param channels constants of each channel
 */
public record StepwiseRequantize(int left, boolean isRounded, int signStep, List<Channel> channels)
        implements RequantizeConstants {
    /** The shift of channels whose multiplier is 0, which any shift serves. */
    private static final int SHIFT_OF_ZERO = 8;

    /**
     * Constants of a channel.
     *
     * @param multiplier Q31
     * @param offset half a step and the zero point, in units of {@code 2^-shift}
     * @param bias scaled by {@code 2^left}
     * @param shift bits to the right, 1 to 31
     */
    public record Channel(int multiplier, int offset, int bias, int shift) {}

    public StepwiseRequantize {
        channels = List.copyOf(channels);
    }

    /**
     * The steps of a reference.
     *
     * @param bounds largest magnitude of each channel's accumulator, without the bias
     * @return empty if it rounds in other ways, or once in some channels and twice in others, or if a value leaves 32 bits
     */
    public static Optional<StepwiseRequantize> of(ProvenRequantize.Reference reference, List<Long> bounds) {
        Rounding rounding = reference.requantization().rounding();
        int least = Integer.MAX_VALUE;
        int most = Integer.MIN_VALUE;
        for (int c = 0; c < bounds.size(); c++) {
            if (reference.multiplier(c) != 0) {
                least = Math.min(least, reference.leftShift(c));
                most = Math.max(most, reference.leftShift(c));
            }
        }
        if (rounding == Rounding.TFLITE && most < 0) {
            int signStep = reference.low() < reference.requantization().outputZeroPoint() ? 1 : 0;
            return of(reference, bounds, new StepwiseRequantize(1, true, signStep, List.of()));
        }
        boolean isOnce = rounding == Rounding.UPWARD || (rounding == Rounding.TFLITE && least >= 0 && least == most);
        return isOnce
                ? of(reference, bounds, new StepwiseRequantize(Math.max(1, most + 2), false, 0, List.of()))
                : Optional.empty();
    }

    private static Optional<StepwiseRequantize> of(
            ProvenRequantize.Reference reference, List<Long> bounds, StepwiseRequantize form) {
        List<Channel> channels = new ArrayList<>();
        for (int c = 0; c < bounds.size(); c++) {
            Optional<Channel> channel = form.channel(reference, c, bounds.get(c));
            if (channel.isEmpty()) {
                return Optional.empty();
            }
            channels.add(channel.get());
        }
        return Optional.of(new StepwiseRequantize(form.left, form.isRounded, form.signStep, channels));
    }

    private Optional<Channel> channel(ProvenRequantize.Reference reference, int c, long bound) {
        int multiplier = reference.multiplier(c);
        int down = isRounded ? -reference.leftShift(c) : left - 1 - reference.leftShift(c);
        int shift = multiplier == 0 ? SHIFT_OF_ZERO : down;
        if (multiplier < 0 || left > 31 || shift < 1 || shift > 31) {
            return Optional.empty();
        }
        long bias = (long) reference.bias().get(c) - reference.requantization().inputZeroPoint();
        long most = Math.abs(bias) + bound;
        long offset = (1L << (shift - 1)) + ((long) reference.requantization().outputZeroPoint() << shift);
        boolean fits =
                most <= Integer.MAX_VALUE >> left && Math.abs(offset) + (most << left) / 2 + 2 <= Integer.MAX_VALUE;
        return fits
                ? Optional.of(new Channel(multiplier, (int) offset, (int) (bias << left), shift))
                : Optional.empty();
    }

    /**
     * The same function of accumulators that are scaled further, which does not round the high word; empty if a value leaves 32 bits.
     *
     * @param bits bits by which they are scaled, at least {@link #left}
     * @param bounds largest magnitude of each channel's accumulator, without the bias
     */
    public Optional<StepwiseRequantize> scaled(int bits, List<Long> bounds) {
        int more = bits - left;
        if (more < 1) {
            return more == 0 && !isRounded ? Optional.of(this) : Optional.empty();
        }
        List<Channel> scaled = new ArrayList<>();
        for (int i = 0; i < channels.size(); i++) {
            Channel c = channels.get(i);
            long offset = ((long) c.offset() << more) + (isRounded ? 1L << (more - 1) : 0);
            long most = Math.abs((long) c.bias() << more) + (bounds.get(i) << bits);
            long step = (long) signStep << more;
            if (c.shift() + more > 31
                    || most > Integer.MAX_VALUE
                    || Math.abs(offset) + most / 2 + step + 1 > Integer.MAX_VALUE) {
                return Optional.empty();
            }
            scaled.add(new Channel(c.multiplier(), (int) offset, c.bias() << more, c.shift() + more));
        }
        return Optional.of(new StepwiseRequantize(bits, false, signStep << more, scaled));
    }

    /** The shift of all channels, if they have the same. */
    public Optional<Integer> commonShift() {
        int shift = channels.get(0).shift();
        return channels.stream().allMatch(c -> c.shift() == shift) ? Optional.of(shift) : Optional.empty();
    }

    /** Multiplier, offset, bias and, unless it is common, the shift. */
    @Override
    public List<Integer> constants(int channel) {
        Channel c = channels.get(channel);
        List<Integer> constants = new ArrayList<>(List.of(c.multiplier(), c.offset(), c.bias()));
        if (commonShift().isEmpty()) {
            constants.add(c.shift());
        }
        return constants;
    }

    /** The function as computed by the kernels. */
    int apply(int channel, long acc, int low, int high) {
        Channel c = channels.get(channel);
        long x = (acc << left) + c.bias();
        long word = (x * c.multiplier() + (isRounded ? 1L << 31 : 0)) >> 32;
        return FixedPoint.clamp((word + c.offset() - (x < 0 ? signStep : 0)) >> c.shift(), low, high);
    }
}
