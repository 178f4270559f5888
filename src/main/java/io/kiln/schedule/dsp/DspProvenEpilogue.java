// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;

/**
 * By {@link io.kiln.lower.ProvenRescale}: about four instructions per value, with one shift for all channels as an immediate.
 *
 * @param range what does not depend on the rescaling
 * @param scaleBits powers of two by which sums are scaled before the high multiply
 * @param shift bits to the right after it
 * @param correction of values; if of negative ones, the zero point is added after that
 */
public record DspProvenEpilogue(Range range, int scaleBits, int shift, RescaleCorrection correction)
        implements DspEpilogue {
    @Override
    public List<String> parameters() {
        return isSigned() ? List.of("late") : List.of();
    }

    @Override
    public List<Expr> arguments() {
        return isSigned() ? List.of(Exprs.imm(correction.lateOffset())) : List.of();
    }

    @Override
    public String suffix() {
        return range.prefix()
                + "_scale" + scaleBits + "_shift" + shift
                + (isSigned() ? "_signed" : correction.suffix())
                + range.suffix();
    }

    /** Whether negative values are corrected. */
    public boolean isSigned() {
        return correction.isSigned();
    }

    @Override
    public String constantsInWords() {
        return "a multiplier and an offset" + (correction.count() == 0 ? "" : " and " + correction.text());
    }

    @Override
    public int constants() {
        return correction.constants();
    }
}
