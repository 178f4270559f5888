// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.flow.spec.BuildSpecBuilder;
import io.kiln.flow.spec.QuantizeSpec;
import io.kiln.maven.bean.Quantize;
import io.kiln.quantize.QuantizeOptions.Limits;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;

/** The parameters {@code kiln.quantize} and {@code kiln.quantize.*} of every goal that builds. */
abstract class AbstractQuantizingMojo extends AbstractCompilingMojo {
    /**
     * How float models are quantized, by the elements {@code mode}, {@code samples}, {@code labels}, {@code method}, {@code equalize},
     * {@code keepFloat}, {@code io}, {@code maxAccuracyLoss}, {@code minSqnr}; the properties {@code kiln.quantize} (for {@code mode}) and {@code
     * kiln.quantize.*} apply to those not set.
     *
     * @since 0.1.0
     */
    @Parameter
    private Quantize quantize;

    /**
     * What a float model is turned into before it is compiled: {@code none}, {@code int8}, {@code int16x8} (activations of 16 bits), or
     * {@code auto}: int8, with int16 or float for the layers that need it to keep the limits.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize", defaultValue = "none")
    private String quantizeMode;

    /**
     * Typical inputs of the float model, 100 to 500: a folder of {@code input_K.bin} (all inputs of sample K in model order,
     * concatenated, raw little-endian), a file {@code .npy}, or a file {@code .npz} with an array for each input. With several models, a
     * folder that holds one of these for each, named like the model.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.samples")
    private File quantizeSamples;

    /**
     * Labels of the samples: lines {@code sample,label} with the number of the sample and the index of its class. If not set, {@code
     * labels.csv} in the folder of the samples, if that exists.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.labels")
    private File quantizeLabels;

    /**
     * How the range of a value is chosen: {@code minmax} (the extremes), {@code percentile} (without the outermost 0.01 % on either
     * side), {@code kl} (least divergence of the distribution) or {@code mse} (least mean square error).
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.method", defaultValue = "minmax")
    private String quantizeMethod;

    /**
     * Whether channels are equalized across layers before the ranges are chosen: {@code auto} (if that at least halves the noise of
     * layers), {@code always}, or {@code never}. It changes no float result.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.equalize", defaultValue = "auto")
    private String quantizeEqualize;

    /**
     * Names of layers that stay float, separated by commas; {@code *} stands for any characters. The report {@code quantized.json} lists
     * the names.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.keepFloat", defaultValue = "")
    private String quantizeKeepFloat;

    /**
     * What the quantized model's inputs and outputs are: {@code int8} (int16 for {@code int16x8}) with scales of the model, or {@code float}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.io", defaultValue = "int8")
    private String quantizeIo;

    /**
     * The build fails if the quantized model loses more accuracy on the labelled samples than this, in percentage points.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.maxAccuracyLoss")
    private Double quantizeMaxAccuracyLoss;

    /**
     * The build fails if an output of the quantized model has a smaller signal-to-quantization-noise ratio than this, in dB.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.minSqnr")
    private Double quantizeMinSqnr;

    /**
     * Sets how float models are quantized.
     *
     * @param samples that come with the model; the user's take their place
     * @param labels likewise; used with these samples only
     */
    final void quantization(BuildSpecBuilder build, Optional<Path> samples, Optional<Path> labels) {
        Quantize bean = quantize == null ? new Quantize() : quantize;
        List<String> kept = bean.keepFloat();
        Optional<Path> given = path(bean.samples(), quantizeSamples);
        build.quantize(new QuantizeSpec.Text(
                first(bean.mode(), quantizeMode, "none"),
                first(bean.method(), quantizeMethod, "minmax"),
                first(bean.equalize(), quantizeEqualize, "auto"),
                first(bean.io(), quantizeIo, "int8"),
                first(kept == null ? null : String.join(",", kept), quantizeKeepFloat, ""),
                new Limits(
                        Optional.ofNullable(bean.maxAccuracyLoss())
                                .or(() -> Optional.ofNullable(quantizeMaxAccuracyLoss)),
                        Optional.ofNullable(bean.minSqnr()).or(() -> Optional.ofNullable(quantizeMinSqnr))),
                new QuantizeSpec.Text.SampleFiles(
                        given.or(() -> samples),
                        path(bean.labels(), quantizeLabels).or(() -> given.isPresent() ? Optional.empty() : labels))));
    }

    private static String first(String bean, String property, String otherwise) {
        return Optional.ofNullable(bean).or(() -> Optional.ofNullable(property)).orElse(otherwise);
    }

    private static Optional<Path> path(File bean, File property) {
        return Optional.ofNullable(bean).or(() -> Optional.ofNullable(property)).map(File::toPath);
    }
}
