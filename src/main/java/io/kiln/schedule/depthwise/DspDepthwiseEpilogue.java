// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.lower.ProvenRequantize;
import io.kiln.lower.StepwiseRequantize;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import io.kiln.schedule.convolution.DspEpilogue;
import io.kiln.schedule.convolution.DspRequantize;
import io.kiln.schedule.parts.RequantizeCorrection;
import java.util.List;
import java.util.Optional;

/**
 * The conversion of sums to int8 in the kernels of {@link DspDepthwiseSchedule}. Multiplier and offset of a channel stay in r10 and r11, its other
 * constants on the stack.
 *
 * @param rescale constants; in the reference's own steps their scale is that of the inputs
 */
public record DspDepthwiseEpilogue(DspRequantize rescale) {
    /** Largest number of constants on the stack. */
    private static final int MOST_KEPT = 2;

    private static final int INPUT_SCALE_BITS = DspDepthwiseSchedule.Loops.INPUT_SCALE_BITS;

    /** The conversion for a layer; empty if ranges do not allow it. */
    static Optional<DspDepthwiseEpilogue> of(ConvComputation conv) {
        Optional<DspDepthwiseEpilogue> proven = DspRequantize.of(conv, false)
                .filter(r -> r.constants() instanceof ProvenRequantize p && suits(p))
                .map(DspDepthwiseEpilogue::new);
        return proven.or(() -> FoldedSums.of(conv)
                .flatMap(sums -> StepwiseRequantize.of(sums.reference(), sums.bounds())
                        .flatMap(r -> r.scaled(INPUT_SCALE_BITS, sums.bounds()))
                        .map(r -> new DspDepthwiseEpilogue(
                                new DspRequantize(r, false, 0, List.of(), sums.low(), sums.high())))));
    }

    private static boolean suits(ProvenRequantize r) {
        return r.scaleBits() >= INPUT_SCALE_BITS
                && r.scaleBits() <= 2 * INPUT_SCALE_BITS
                && r.corrections() <= MOST_KEPT
                && isImmediate(r.lateOffset());
    }

    /** Whether it fits an immediate of ADD: eight bits anywhere in a word. */
    private static boolean isImmediate(int value) {
        int magnitude = Math.abs(value);
        return magnitude >>> Integer.numberOfTrailingZeros(magnitude | (1 << 31)) <= 0xFF;
    }

    /** The reference's own steps, if that is how sums are rescaled. */
    public Optional<StepwiseRequantize> stepwise() {
        return rescale.constants() instanceof StepwiseRequantize r ? Optional.of(r) : Optional.empty();
    }

    private ProvenRequantize proven() {
        return (ProvenRequantize) rescale.constants();
    }

    /** How values are corrected, if they are not rescaled by the reference's own steps. */
    public RequantizeCorrection correction() {
        return RequantizeCorrection.of(proven());
    }

    /** Limits of the results. */
    public DspEpilogue.Range range() {
        return new DspEpilogue.Range(false, 0, rescale.low(), rescale.high());
    }

    /** Powers of two by which weights are scaled. */
    public int weightBits() {
        return stepwise().isPresent() ? 0 : proven().scaleBits() - INPUT_SCALE_BITS;
    }

    /** Number of a channel's constants on the stack. */
    public int kept() {
        return rescale.constantsPerChannel() - 2;
    }

    /** Whether sums start with the first constant on the stack rather than with 0. */
    public boolean hasBias() {
        return stepwise().isPresent();
    }

    /** Part of a kernel's name. */
    String suffix() {
        String limits = rescale.isLimited() ? "_limit_" + (rescale.low() + 128) + "_" + (rescale.high() + 128) : "";
        return stepwise()
                .map(r -> (r.signStep() == 0 ? "_steps" : "_signed" + r.signStep())
                        + r.commonShift().map(s -> "_shift" + s).orElse("")
                        + limits)
                .orElseGet(() -> provenSuffix() + limits);
    }

    private String provenSuffix() {
        ProvenRequantize r = proven();
        String late = correction().isSigned()
                ? "_late" + (r.lateOffset() < 0 ? "m" : "") + Math.abs(r.lateOffset())
                : correction().suffix();
        return "_scale" + r.scaleBits() + "_shift" + r.shift() + late;
    }

    /** The description of a channel's constants in a comment. */
    public String constantsInWords() {
        return stepwise()
                .map(r -> "multiplier, offset, bias" + (r.commonShift().isEmpty() ? ", shift" : ""))
                .orElseGet(() -> "multiplier, offset"
                        + (proven().hasCorrections() ? ", " + correction().text() : ""));
    }
}
