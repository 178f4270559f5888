// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.lower.Intrinsics;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.schedule.parts.ScalarRescale;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The micro-kernel of {@link BlockedConv}: all output channels of a block of pixels, block of channels by block of
 * channels, rescaled and stored. Pointers: inputs, weights {@code [block][tap][channel]} with the last block padded,
 * constants of the rescaling, output. Scalars: taps, channels, elements between pixels in the input and in the output,
 * power of two that scales sums or its bits, shift; then what the correction needs, and limits if they are narrower than int8.
 *
 * @param sums the inner loop
 * @param rescale the rescaling
 */
record BlockedKernel(BlockedSums sums, ScalarRescale rescale) {
    private static final KernelText TEXT = KernelText.of("portable/blocked");
    private static final KernelText ASSEMBLY_TEXT = KernelText.of("portable/blocked_assembly");

    private static final String PAIR_OF_WEIGHTS = """
                const int32_t both = weight[@ * i];
                const int32_t first = (int8_t)((uint8_t)both << 4) >> 4;
        """;

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
                sums.assembly().map(this::naked).orElseGet(this::definition),
                sums.assembly().isPresent()
                        ? List.of()
                        : List.of(
                                sums.loop().orElseThrow(),
                                Intrinsics.HIGH_WORD,
                                rescale.isLimited() ? Intrinsics.CLAMP : Intrinsics.SATURATE_8));
    }

    private String name() {
        return "kiln_blocked_" + sums.name().substring("kiln_sums_".length()) + rescale.suffix()
                + sums.assembly().map(assembly -> assembly.suffix(rescale)).orElse("");
    }

    private String parameters(String attribute) {
        List<String> all = new ArrayList<>(List.of(
                "const " + (sums.pairsInputs() ? "int32_t" : "int8_t") + "* x",
                "const " + weights() + "* w",
                "const int32_t* rescale",
                "int8_t* out",
                "int32_t taps",
                "int32_t channels"));
        if (!sums.pairsInputs()) {
            all.add("int32_t stride");
        }
        all.add("int32_t out_stride");
        rescale.parameters().forEach(p -> all.add("int32_t " + p));
        return all.stream().map(p -> attribute + p).collect(Collectors.joining(", "));
    }

    /** C's type of the table of weights. */
    private String weights() {
        return sums.weightPairs().isPresent() ? "int32_t" : "int8_t";
    }

    /** C's expression for an input. */
    private String input() {
        return sums.pairsInputs()
                ? "(pixel == 0 ? (int16_t)x[i] : (x[i] - (int16_t)x[i]) / 65536)"
                : "x[pixel * stride + i]";
    }

    /** C's expression for a weight. */
    private String weight() {
        int step = sums.channels() / sums.weightsPerElement();
        String element = "weight[" + step + " * i]";
        return sums.weightPairs()
                .map(pairs -> pairs.unpacked("channel % 2 == 0", element))
                .orElse(sums.pairsWeights() ? "(channel % 2 == 0 ? first : (both - first) / 16)" : element);
    }

    /** The whole kernel in assembly, with a portable twin. */
    private String naked(BlockedAssembly assembly) {
        int block = sums.channels();
        RescaleCorrection correction = rescale.correction();
        String corrected = correction.twin(
                "value",
                i -> String.format(Locale.ROOT, "rescale[%d * channel + %d]", correction.constants(), 2 + i),
                correction.parameter().orElse(""));
        return head(ASSEMBLY_TEXT)
                .with("CONDITION", assembly.condition())
                .with("UNUSED_PARAMETERS", parameters("__attribute__((unused)) "))
                .with("ASSEMBLY", assembly.lines(rescale))
                .with("WEIGHT_TYPE", weights())
                .with("WEIGHT_OF_CHANNEL", "channel % " + block + (sums.weightsPerElement() == 2 ? " / 2" : ""))
                .with(
                        "PAIR_OF_WEIGHTS",
                        sums.pairsWeights() ? PAIR_OF_WEIGHTS.replace("@", Integer.toString(block / 2)) : "")
                .with("WEIGHT", weight())
                .with("INPUT", input())
                .with("SCALED", assembly.shiftsSums() ? "sum * (1 << scale)" : "sum * scale")
                .with("CORRECTION", corrected.indent(6))
                .with("LOW", rescale.isLimited() ? "low" : "-128")
                .with("HIGH", rescale.isLimited() ? "high" : "127")
                .text();
    }

    /** Common to the texts of both forms. */
    private KernelText head(KernelText text) {
        return text.with("NAME", name())
                .with("PIXELS", sums.pixels())
                .with("BLOCK", sums.channels())
                .with("PARAMETERS", parameters(""))
                .with("BLOCK_BYTES", sums.channels() / sums.weightsPerElement())
                .with("CONSTANTS", rescale.correction().constants());
    }

    private String definition() {
        return head(TEXT)
                .with("SUMS", sums.pixels() * sums.channels())
                .with("SUM_UP", sums.name() + "(x, " + (sums.pairsInputs() ? "" : "stride, ") + "w, taps, sums)")
                .with("CORRECTION", corrections())
                .with("RESULTS", results(sums.pixels()))
                .text();
    }

    /** The lines that load a channel's corrections. */
    private String corrections() {
        return IntStream.range(0, rescale.correction().count())
                .mapToObj(i ->
                        String.format(Locale.ROOT, "      const int32_t %s = rescale[%d];\n", correction(i), 2 + i))
                .collect(Collectors.joining());
    }

    private String correction(int index) {
        return rescale.correction().isSigned() ? "negative" : "correction" + index;
    }

    /** The lines that finish the pixels of one channel. */
    private String results(int pixels) {
        StringBuilder text = new StringBuilder();
        for (int p = 0; p < pixels; p++) {
            text.append(String.format(
                    Locale.ROOT,
                    "      %sint32_t value%s = kiln_high_word(sum[%d] * scale, multiplier) + offset;\n",
                    rescale.correction().count() > 0 ? "" : "const ",
                    p,
                    p));
            text.append(rescale.correction().line("value" + p, this::correction).indent(6));
            String place = p == 0 ? "0" : p == 1 ? "out_stride" : p + " * out_stride";
            String shifted = "value" + p + " >> shift";
            text.append(String.format(
                    Locale.ROOT,
                    "      out[%s] = (int8_t)%s;\n",
                    place,
                    rescale.isLimited()
                            ? "kiln_clamp(" + shifted + ", low, high)"
                            : "kiln_saturate_8(" + shifted + ")"));
        }
        return text.toString();
    }
}
