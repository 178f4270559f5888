// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.lower.ConvComputation;
import io.kiln.lower.FoldedSums;
import io.kiln.lower.ProvenRescale;
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
        return FoldedSums.of(conv).flatMap(sums -> {
            Optional<ProvenRescale> free = fits
                    ? ProvenRescale.find(sums.reference(), sums.bounds(), LEAST_SCALE_BITS)
                            .filter(r -> r.scaleBits() == LEAST_SCALE_BITS)
                    : Optional.empty();
            return free.or(() -> ProvenRescale.find(sums.reference(), sums.bounds()))
                    .map(r -> new DspRescale(r, fits && r.scaleBits() >= LEAST_SCALE_BITS, sums.low(), sums.high()));
        });
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
        words.addAll(rescale.constants(channel));
    }
}
