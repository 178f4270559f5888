// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.DType;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.ProvenRescale;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The rescaling of a convolution or dense layer for Arm's DSP instructions. The accumulator is the plain sum of inputs times
 * weights: the input's zero point and the bias are in the constants of the rescaling.
 *
 * @param rescale constants, proven to give the reference's answers
 * @param isSummed whether weights are packed as sums ({@link DspWeights}); accumulators then come scaled by at least
 *     {@link #LEAST_SCALE_BITS}
 * @param low lower limit of the result
 * @param high upper limit of the result
 */
record DspRescale(ProvenRescale rescale, boolean isSummed, int low, int high) {
    /** What the packing of two weights in a halfword scales one of them by. */
    static final int LEAST_SCALE_BITS = 8;

    /**
     * The rescaling, or nothing where the operator has none or ranges do not allow it.
     *
     * @param fits whether the weights can be packed as sums
     */
    static Optional<DspRescale> of(ConvComputation conv, boolean fits) {
        FusedOperator op = conv.op();
        if (op.requantization().isEmpty() || op.type().dtype() != DType.INT8) {
            return Optional.empty();
        }
        List<Integer> bias = new ArrayList<>();
        List<Long> bounds = new ArrayList<>();
        for (int o = 0; o < conv.channels(); o++) {
            TapSums sums = TapSums.of(conv, o);
            int channel = o;
            long folded = op.bias().map(b -> b.integer(channel)).orElse(0L) - (long) conv.inputZeroPoint() * sums.sum();
            if (folded != (int) folded) {
                return Optional.empty();
            }
            bias.add((int) folded);
            bounds.add(128 * sums.magnitude());
        }
        int low = op.clip().map(c -> (int) Math.max(-128, Math.ceil(c.min()))).orElse(-128);
        int high = op.clip().map(c -> (int) Math.min(127, Math.floor(c.max()))).orElse(127);
        ProvenRescale.Reference reference =
                new ProvenRescale.Reference(op.requantization().orElseThrow(), bias, low, high);
        Optional<ProvenRescale> free = fits
                ? ProvenRescale.find(reference, bounds, LEAST_SCALE_BITS).filter(r -> r.scaleBits() == LEAST_SCALE_BITS)
                : Optional.empty();
        return free.or(() -> ProvenRescale.find(reference, bounds))
                .map(r -> new DspRescale(r, fits && r.scaleBits() >= LEAST_SCALE_BITS, low, high));
    }

    /** Whether a narrower range than int8 is asked for. */
    boolean isLimited() {
        return low > -128 || high < 127;
    }

    /** Constants that a kernel loads for each channel: multiplier, offset, and what negative values are corrected by. */
    int constantsPerChannel() {
        return rescale.hasNegatives() ? 3 : 2;
    }

    /** Appends the constants of a channel. */
    void put(int channel, List<Integer> words) {
        ProvenRescale.Channel c = rescale.channels().get(channel);
        words.add(c.multiplier());
        words.add(c.offset());
        if (rescale.hasNegatives()) {
            words.add(c.negative());
        }
    }

    /** Sum of an output channel's weights, and of their magnitudes. */
    private record TapSums(long sum, long magnitude) {
        static TapSums of(ConvComputation conv, int o) {
            long sum = 0;
            long magnitude = 0;
            for (int ky = 0; ky < conv.window().kernelH(); ky++) {
                for (int kx = 0; kx < conv.window().kernelW(); kx++) {
                    for (int c = 0; c < conv.channelsPerGroup(); c++) {
                        int tap = conv.tap(o, ky, kx, c);
                        sum += tap;
                        magnitude += Math.abs(tap);
                    }
                }
            }
            return new TapSums(sum, magnitude);
        }
    }
}
