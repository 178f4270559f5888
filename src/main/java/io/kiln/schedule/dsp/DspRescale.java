// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.lower.FloorRescale;
import io.kiln.lower.ProvenRescale;
import io.kiln.lower.RescaleConstants;
import io.kiln.lower.StepwiseRescale;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import java.util.List;
import java.util.Optional;

/**
 * The rescaling of a convolution or dense layer for Arm's DSP instructions. The accumulator is the plain sum of inputs times
 * weights: the input's zero point and the bias are in the constants of the rescaling.
 *
 * @param constants constants, proven equal to the reference or those of its own steps
 * @param isSummed whether weights are packed as sums ({@link DspWeights}); accumulators then come scaled by
 *     {@link #LEAST_SCALE_BITS}, which 32 bits hold
 * @param freeBits powers of two by which the first of two channels, or a single one, is already scaled
 * @param low lower limit of the result
 * @param high upper limit of the result
 */
public record DspRescale(RescaleConstants constants, boolean isSummed, int freeBits, int low, int high) {
    /** Scale of one of two weights packed in a halfword. */
    static final int LEAST_SCALE_BITS = 8;

    /**
     * The rescaling; empty if the operator has none or ranges do not allow it.
     *
     * @param fits whether the weights can be packed as sums
     */
    static Optional<DspRescale> of(ConvComputation conv, boolean fits) {
        return FoldedSums.of(conv).flatMap(sums -> of(sums, fits));
    }

    private static Optional<DspRescale> of(FoldedSums sums, boolean fits) {
        Optional<DspRescale> proven = (fits ? find(sums, LEAST_SCALE_BITS) : sums.proven())
                .map(r -> of(r, fits && r.scaleBits() >= LEAST_SCALE_BITS, sums));
        long most = sums.bounds().stream().mapToLong(b -> b).max().orElse(0);
        boolean isSummed = fits && most <= Integer.MAX_VALUE >> LEAST_SCALE_BITS;
        return proven.or(() -> general(sums).map(r -> of(r, isSummed, sums)));
    }

    private static DspRescale of(RescaleConstants constants, boolean isSummed, FoldedSums sums) {
        return new DspRescale(constants, isSummed, isSummed ? LEAST_SCALE_BITS : 0, sums.low(), sums.high());
    }

    /** The reference's steps, or its results by a wider offset. */
    static Optional<RescaleConstants> general(FoldedSums sums) {
        ProvenRescale.Reference reference = sums.reference();
        Optional<RescaleConstants> stepwise =
                StepwiseRescale.of(reference, sums.bounds()).map(r -> r);
        if (stepwise.isPresent() || sums.largest() > Integer.MAX_VALUE) {
            return stepwise;
        }
        long most = sums.bounds().stream().mapToLong(b -> b).max().orElse(0);
        return FloorRescale.find(reference, sums.bounds().size(), most)
                .flatMap(r -> r.ofHighWords(sums.requantization().outputZeroPoint()))
                .map(r -> r);
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
        return sums.proven(bits).filter(r -> r.scaleBits() == bits).or(sums::proven);
    }

    /** Whether the range is narrower than int8. */
    boolean isLimited() {
        return low > -128 || high < 127;
    }

    /** How values are rescaled, for the reason of a choice. */
    String inWords() {
        return constants instanceof ProvenRescale
                ? "one high multiply per output, proven exact"
                : "rescaled in steps, as no single high multiply is proven exact";
    }

    /** Number of constants that a kernel loads for each channel. */
    int constantsPerChannel() {
        return constants.constants(0).size();
    }

    /** Appends the constants of a channel. */
    void put(int channel, List<Integer> words) {
        words.addAll(constants.constants(channel));
    }
}
