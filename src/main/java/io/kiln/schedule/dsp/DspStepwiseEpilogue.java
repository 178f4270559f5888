// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import java.util.Optional;

/**
 * By {@link io.kiln.lower.StepwiseRescale}: about seven instructions per value.
 *
 * @param range what does not depend on the rescaling
 * @param left bits by which sums are scaled
 * @param isRounded whether the high word is rounded
 * @param isSigned whether negative values are corrected
 * @param shift bits to the right, if all channels have the same
 */
public record DspStepwiseEpilogue(Range range, int left, boolean isRounded, boolean isSigned, Optional<Integer> shift)
        implements DspEpilogue {
    @Override
    public String suffix() {
        return range.prefix()
                + (isRounded ? "_twice" : "_once")
                + left
                + (isSigned ? "_signed" : "")
                + shift.map(s -> "_shift" + s).orElse("")
                + range.suffix();
    }

    @Override
    public String constantsInWords() {
        return shift.isPresent() ? "a multiplier, an offset and a bias" : "a multiplier, an offset, a bias and a shift";
    }

    @Override
    public int constants() {
        return shift.isPresent() ? 3 : 4;
    }
}
