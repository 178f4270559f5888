// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.Problems;
import io.kiln.flow.spec.CompilerSpec.QuantizeSpec;
import io.kiln.quantize.QuantizeOptions.Limits;
import java.nio.file.Path;
import java.util.Optional;

/** {@code <quantize>}: how float models are quantized. */
public final class Quantize {
    private static final Element MODE = Element.of(
                    "mode",
                    "none",
                    "What a float model is turned into before it is compiled: none, int8, int16x8 (activations of 16"
                            + " bits), or auto: int8, with int16 or float for the layers that need it to keep the limits.")
            .ofGroup();
    private static final Element SAMPLES = Element.of(
            "samples",
            "Typical inputs of the float model, 100 to 500: a folder of input_K.bin (all inputs of sample K in model"
                    + " order, raw little-endian), pictures or recordings, a file .npy, or a file .npz with an array for"
                    + " each input. With several models, a folder that holds one of these for each, named like the"
                    + " model.");
    private static final Element LABELS = Element.of(
            "labels",
            "Labels of the samples: lines sample,label with the number of the sample and the index of its class. If"
                    + " not set, labels.csv in the folder of the samples, if that exists.");
    private static final Element METHOD = Element.of(
            "method",
            "minmax",
            "How the range of a value is chosen: minmax (the extremes), percentile (without the outermost 0.01 % on"
                    + " either side), kl (least divergence of the distribution) or mse (least mean square error).");
    private static final Element EQUALIZE = Element.of(
            "equalize",
            "auto",
            "Whether channels are equalized across layers before the ranges are chosen: auto (if that at least halves"
                    + " the noise of layers), always, or never. It changes no float result.");
    private static final Element KEEP_FLOAT = Element.of(
            "keepFloat",
            "",
            "Names of layers that stay float, separated by commas; * stands for any characters. The report"
                    + " quantized.json lists the names.");
    private static final Element IO = Element.of(
            "io",
            "int8",
            "What the quantized model's inputs and outputs are: int8 (int16 for int16x8) with scales of the model, or"
                    + " float.");
    private static final Element MAX_ACCURACY_LOSS = Element.of(
            "maxAccuracyLoss",
            "The build fails if the quantized model loses more accuracy on the labelled samples than this, in"
                    + " percentage points.");
    private static final Element MIN_SQNR = Element.of(
            "minSqnr",
            "The build fails if an output of the quantized model has a smaller signal-to-quantization-noise ratio than"
                    + " this, in dB.");

    public static final ParameterGroup GROUP = new ParameterGroup(
            "quantize", MODE, SAMPLES, LABELS, METHOD, EQUALIZE, KEEP_FLOAT, IO, MAX_ACCURACY_LOSS, MIN_SQNR);

    private Quantize() {}

    /**
     * How float models are quantized.
     *
     * @param malformed gets what cannot be parsed
     * @param samples that come with the model; the user's take their place
     * @param labels likewise; used with these samples only
     */
    public static QuantizeSpec spec(
            GroupValues quantize, Problems malformed, Optional<Path> samples, Optional<Path> labels) {
        Optional<Path> given = quantize.file(SAMPLES);
        Limits limits = new Limits(
                malformed.read(() -> quantize.real(MAX_ACCURACY_LOSS)).orElse(Optional.empty()),
                malformed.read(() -> quantize.real(MIN_SQNR)).orElse(Optional.empty()));
        return malformed
                .read(() -> QuantizeSpec.options(
                        quantize.text(MODE),
                        quantize.text(METHOD),
                        quantize.text(EQUALIZE),
                        quantize.text(IO),
                        quantize.text(KEEP_FLOAT),
                        limits))
                .map(options -> new QuantizeSpec(
                        options,
                        given.or(() -> samples),
                        quantize.file(LABELS).or(() -> given.isPresent() ? Optional.empty() : labels)))
                .orElse(QuantizeSpec.NONE);
    }
}
