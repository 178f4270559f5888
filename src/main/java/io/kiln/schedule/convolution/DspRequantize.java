// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.lower.FloorRequantize;
import io.kiln.lower.ProvenRequantize;
import io.kiln.lower.RequantizeConstants;
import io.kiln.lower.StepwiseRequantize;
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
 * @param starts where the sum of each channel starts, if one channel's constants then serve all; otherwise empty: sums start at 0
 * @param low lower limit of the result
 * @param high upper limit of the result
 */
public record DspRequantize(
        RequantizeConstants constants, boolean isSummed, int freeBits, List<Integer> starts, int low, int high) {
    /** Scale of one of two weights packed in a halfword. */
    public static final int LEAST_SCALE_BITS = 8;

    public DspRequantize {
        starts = List.copyOf(starts);
    }

    /**
     * The rescaling; empty if the operator has none or ranges do not allow it.
     *
     * @param fits whether the weights can be packed as sums
     */
    public static Optional<DspRequantize> of(ConvComputation conv, boolean fits) {
        return FoldedSums.of(conv).flatMap(sums -> of(sums, fits));
    }

    /**
     * The same for kernels whose sums may start at the biases, which saves constants: one multiplier and offset then serve all channels, if all are
     * scaled alike.
     */
    public static Optional<DspRequantize> ofStarted(ConvComputation conv, boolean fits) {
        return FoldedSums.of(conv).flatMap(sums -> started(sums, fits).or(() -> of(sums, fits)));
    }

    private static Optional<DspRequantize> started(FoldedSums sums, boolean fits) {
        return sums.started()
                .flatMap(one -> fits
                        ? find(one, LEAST_SCALE_BITS).filter(r -> r.scaleBits() >= LEAST_SCALE_BITS)
                        : one.proven())
                .filter(r -> !r.hasCorrections() || r.corrected() == ProvenRequantize.Corrected.NEGATIVE)
                .map(r -> of(r, fits, sums.bias(), sums));
    }

    private static Optional<DspRequantize> of(FoldedSums sums, boolean fits) {
        Optional<DspRequantize> proven = (fits ? find(sums, LEAST_SCALE_BITS) : sums.proven())
                .map(r -> of(r, fits && r.scaleBits() >= LEAST_SCALE_BITS, sums));
        boolean isSummed = fits && sums.largestSum() <= Integer.MAX_VALUE >> LEAST_SCALE_BITS;
        return proven.or(() -> general(sums).map(r -> of(r, isSummed, sums)));
    }

    private static DspRequantize of(RequantizeConstants constants, boolean isSummed, FoldedSums sums) {
        return of(constants, isSummed, List.of(), sums);
    }

    private static DspRequantize of(
            RequantizeConstants constants, boolean isSummed, List<Integer> starts, FoldedSums sums) {
        return new DspRequantize(constants, isSummed, isSummed ? LEAST_SCALE_BITS : 0, starts, sums.low(), sums.high());
    }

    /** The reference's steps, or its results by a wider offset. */
    static Optional<RequantizeConstants> general(FoldedSums sums) {
        ProvenRequantize.Reference reference = sums.reference();
        Optional<RequantizeConstants> stepwise =
                StepwiseRequantize.of(reference, sums.bounds()).map(r -> r);
        if (stepwise.isPresent() || sums.largest() > Integer.MAX_VALUE) {
            return stepwise;
        }
        return FloorRequantize.find(reference, sums.bounds().size(), sums.largestSum())
                .flatMap(r -> r.ofHighWords(sums.requantization().outputZeroPoint()))
                .map(r -> r);
    }

    /**
     * The rescaling of sums that are already scaled; empty if the operator has none or ranges do not allow it.
     *
     * @param bits powers of two by which every sum is already scaled
     */
    static Optional<DspRequantize> ofScaled(ConvComputation conv, int bits) {
        return FoldedSums.of(conv)
                .flatMap(sums -> find(sums, bits)
                        .filter(r -> r.scaleBits() >= bits)
                        .<RequantizeConstants>map(r -> r)
                        .or(() -> sums.largestSum() <= Integer.MAX_VALUE >> bits ? general(sums) : Optional.empty())
                        .map(r -> new DspRequantize(r, false, bits, List.of(), sums.low(), sums.high())));
    }

    /** A rescaling with exactly this many bits if there is one, otherwise any. */
    private static Optional<ProvenRequantize> find(FoldedSums sums, int bits) {
        return sums.proven(bits).filter(r -> r.scaleBits() == bits).or(sums::proven);
    }

    /** Whether the range is narrower than int8. */
    public boolean isLimited() {
        return low > -128 || high < 127;
    }

    /** How values are rescaled, for the reason of a choice. */
    public String inWords() {
        return constants instanceof ProvenRequantize
                ? "one high multiply per output, proven exact"
                : "rescaled in steps, as no single high multiply is proven exact";
    }

    /** Whether the sums of all channels start at their biases and are rescaled alike. */
    public boolean isStarted() {
        return !starts.isEmpty();
    }

    /** Number of constants that a kernel loads for each channel. */
    public int constantsPerChannel() {
        return starts.isEmpty() ? constants.constants(0).size() : 0;
    }

    /** Appends the constants of a channel. */
    public void put(int channel, List<Integer> words) {
        if (starts.isEmpty()) {
            words.addAll(constants.constants(channel));
        }
    }
}
