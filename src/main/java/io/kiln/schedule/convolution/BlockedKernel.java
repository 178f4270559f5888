// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.kernels.convolution.Jteportable_blockGenerated;
import io.kiln.lower.Intrinsics;
import io.kiln.schedule.parts.RequantizeCorrection;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.ArrayList;
import java.util.List;

/**
 * The micro-kernel of {@link BlockedConvSchedule}: all output channels of a block of pixels, block of channels by block of
 * channels, rescaled and stored. Pointers: inputs, weights {@code [block][tap][channel]} with the last block padded,
 * constants of the rescaling, output. Scalars: taps, channels, elements between pixels in the input and in the output,
 * power of two that scales sums or its bits, shift; then what the correction needs, and limits if they are narrower than int8.
 *
 * @param sums the inner loop
 * @param rescale the rescaling
 */
public record BlockedKernel(BlockedSums sums, ScalarRequantize rescale) {
    Kernel kernel() {
        List<DType> scalars = new ArrayList<>(List.of(INT32, INT32));
        if (!sums.pairsInputs()) {
            scalars.add(INT32);
        }
        scalars.add(INT32);
        rescale.scalars().forEach(s -> scalars.add(INT32));
        return new Kernel(
                name(),
                List.of(
                        Pointer.in(sums.pairsInputs() ? INT32 : INT8),
                        Pointer.in(sums.weightPairs().isPresent() ? INT32 : INT8),
                        Pointer.in(INT32),
                        Pointer.out(INT8)),
                scalars,
                List.of(),
                sums.assembly()
                        .map(assembly -> assembly.text(this))
                        .orElseGet(() ->
                                KernelSheet.text((out, html) -> Jteportable_blockGenerated.render(out, html, this))),
                sums.assembly().isPresent()
                        ? List.of()
                        : List.of(
                                sums.loop().orElseThrow(),
                                Intrinsics.HIGH_WORD,
                                rescale.isLimited() ? Intrinsics.CLAMP : Intrinsics.SATURATE_8));
    }

    /** C name. */
    public String name() {
        return "kiln_blocked_" + sums.name().substring("kiln_sums_".length()) + rescale.suffix()
                + sums.assembly().map(assembly -> assembly.suffix(rescale)).orElse("");
    }

    /** C's parameters. */
    public List<String> parameters() {
        List<String> all = new ArrayList<>(List.of(
                "const " + (sums.pairsInputs() ? "int32_t" : "int8_t") + "* x",
                "const " + weightType() + "* w",
                "const int32_t* rescale",
                "int8_t* out",
                "int32_t taps",
                "int32_t channels"));
        if (!sums.pairsInputs()) {
            all.add("int32_t stride");
        }
        all.add("int32_t out_stride");
        rescale.parameters().forEach(p -> all.add("int32_t " + p));
        return all;
    }

    /** Pixels of a block. */
    public int pixels() {
        return sums.pixels();
    }

    /** Channels of a block. */
    public int channels() {
        return sums.channels();
    }

    /** Elements of the table of weights for a tap of a block. */
    public int elementsOfStep() {
        return sums.channels() / sums.weightsPerElement();
    }

    /** Whether two weights share a byte. */
    public boolean pairsWeights() {
        return sums.pairsWeights();
    }

    /** Whether the inputs of two pixels share a word. */
    public boolean pairsInputs() {
        return sums.pairsInputs();
    }

    /** The function that computes the sums of a kernel that is not assembly. */
    public String loop() {
        return sums.name();
    }

    /** What is corrected before the shift. */
    public RequantizeCorrection correction() {
        return rescale.correction();
    }

    /** C's type of the table of weights. */
    public String weightType() {
        return sums.weightPairs().isPresent() ? "int32_t" : "int8_t";
    }

    /** C's expression for an input. */
    public String input() {
        return sums.pairsInputs()
                ? "(pixel == 0 ? (int16_t)x[i] : (x[i] - (int16_t)x[i]) / 65536)"
                : "x[pixel * stride + i]";
    }

    /** C's expression for a weight. */
    public String weight() {
        String element = "weight[" + elementsOfStep() + " * i]";
        String second = sums.sumsWeights() ? "(both - first) / 16" : "both >> 4";
        return sums.weightPairs()
                .map(pairs -> pairs.unpacked("channel % 2 == 0", element))
                .orElse(sums.pairsWeights() ? "(channel % 2 == 0 ? first : " + second + ")" : element);
    }

    /** C's expression for a sum that is scaled. */
    public String scaledSum() {
        return sums.assembly().filter(BlockedAssembly::shiftsSums).isPresent() ? "sum * (1 << scale)" : "sum * scale";
    }

    /** C's statement that corrects a value; empty if none is. */
    public String correctedValue() {
        RequantizeCorrection correction = correction();
        return correction.twin(
                "value",
                i -> "rescale[" + correction.constants() + " * channel + " + (2 + i) + "]",
                correction.parameter().orElse(""));
    }

    /** C's expression for the lower limit. */
    public String low() {
        return rescale.isLimited() ? "low" : "-128";
    }

    /** C's expression for the upper limit. */
    public String high() {
        return rescale.isLimited() ? "high" : "127";
    }
}
