// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.FixedPoint;
import io.kiln.lower.Epilogue;
import io.kiln.lower.Requantization;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Constants that rescale accumulators of raw int8 inputs to int8 outputs exactly like the reference.
 *
 * @param sums the accumulators
 */
public record MveRescale(FoldedSums sums) {

    /** The constants of a convolution; empty if the vector instructions would not be exact. */
    public static Optional<MveRescale> of(ConvComputation conv) {
        return FoldedSums.of(conv).filter(MveRescale::isExact).map(MveRescale::new);
    }

    private static boolean isExact(FoldedSums sums) {
        Requantization r = sums.requantization();
        return r.inputZeroPoint() == 0
                && r.multipliers().stream().allMatch(m -> m >= 0)
                && Epilogue.isFast(r, sums.largest());
    }

    Requantization requantization() {
        return sums.requantization();
    }

    /** Least result. */
    int low() {
        return sums.low();
    }

    /** Largest result. */
    int high() {
        return sums.high();
    }

    /** Whether halves below zero must be rounded away from zero; otherwise the lower limit hides the difference. */
    boolean hasNegatives() {
        return sums.low() < requantization().outputZeroPoint();
    }

    /** Whether the limits need more than saturation from 16 to 8 bits. */
    boolean hasLimits() {
        boolean narrow = !sums.isLimited();
        Requantization r = requantization();
        for (int o = 0; o < r.multipliers().size(); o++) {
            int most = FixedPoint.multiplyByQuantizedMultiplier(
                    (int) sums.largest(), r.multipliers().get(o), r.shifts().get(o));
            narrow &= most + 1 + Math.abs(r.outputZeroPoint()) <= Short.MAX_VALUE;
        }
        return !narrow;
    }

    /** Appends biases, multipliers and shifts of a block of channels; those past the last one are zero. */
    void putBlock(ByteBuffer packed, int first, int block) {
        Requantization r = requantization();
        int channels = sums.bias().size();
        for (int o = first; o < first + block; o++) {
            packed.putInt(o < channels ? sums.bias().get(o) : 0);
        }
        for (int o = first; o < first + block; o++) {
            packed.putInt(o < channels ? r.multipliers().get(r.isPerChannel() ? o : 0) : 0);
        }
        for (int o = first; o < first + block; o++) {
            packed.putInt(o < channels ? r.shifts().get(r.isPerChannel() ? o : 0) : -1);
        }
    }
}
