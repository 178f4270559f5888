// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.lower.ProvenRescale;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import java.util.List;
import java.util.Optional;

/**
 * The rescaling of a convolution or dense layer for Arm's DSP instructions. The accumulator is the plain sum of inputs times
 * weights: the input's zero point and the bias are in the constants of the rescaling.
 *
 * @param rescale constants, proven equal to the reference
 * @param isSummed whether weights are packed as sums ({@link DspWeights}); accumulators then come scaled by at least
 *     {@link #LEAST_SCALE_BITS}
 * @param freeBits powers of two by which the first of two channels, or a single one, is already scaled
 * @param low lower limit of the result
 * @param high upper limit of the result
 */
record DspRescale(ProvenRescale rescale, boolean isSummed, int freeBits, int low, int high) {
    /** Scale of one of two weights packed in a halfword. */
    static final int LEAST_SCALE_BITS = 8;

    /**
     * The rescaling; empty if the operator has none or ranges do not allow it.
     *
     * @param fits whether the weights can be packed as sums
     */
    static Optional<DspRescale> of(ConvComputation conv, boolean fits) {
        return FoldedSums.of(conv)
                .flatMap(sums -> (fits
                                ? find(sums, LEAST_SCALE_BITS)
                                : ProvenRescale.find(sums.reference(), sums.bounds()))
                        .map(r -> of(r, fits && r.scaleBits() >= LEAST_SCALE_BITS, sums)));
    }

    private static DspRescale of(ProvenRescale rescale, boolean isSummed, FoldedSums sums) {
        return new DspRescale(rescale, isSummed, isSummed ? LEAST_SCALE_BITS : 0, sums.low(), sums.high());
    }

    /**
     * The rescaling of sums that are already scaled; empty if the operator has none or ranges do not allow it.
     *
     * @param bits powers of two by which every sum is already scaled
     */
    static Optional<DspRescale> ofScaled(ConvComputation conv, int bits) {
        return FoldedSums.of(conv)
                .flatMap(sums -> find(sums, bits)
                        .filter(r -> r.scaleBits() >= bits)
                        .map(r -> new DspRescale(r, false, bits, sums.low(), sums.high())));
    }

    /** A rescaling with exactly this many bits if there is one, otherwise any. */
    private static Optional<ProvenRescale> find(FoldedSums sums, int bits) {
        return ProvenRescale.find(sums.reference(), sums.bounds(), bits)
                .filter(r -> r.scaleBits() == bits)
                .or(() -> ProvenRescale.find(sums.reference(), sums.bounds()));
    }

    /** Whether the range is narrower than int8. */
    boolean isLimited() {
        return low > -128 || high < 127;
    }

    /**
     * Number of constants that a kernel loads for each channel: multiplier, offset, and its corrections.
     */
    int constantsPerChannel() {
        return 2 + rescale.corrections();
    }

    /** Appends the constants of a channel. */
    void put(int channel, List<Integer> words) {
        words.addAll(rescale.constants(channel));
    }
}
