// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Failure;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problems;
import io.kiln.quantize.QuantizeOptions;
import io.kiln.quantize.QuantizeOptions.Equalize;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.QuantizeOptions.QuantizeRequest;
import io.kiln.quantize.range.Calibration.RangeMethod;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.SampleReader.OtherSamples;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How float models are quantized before they are compiled.
 *
 * @param options how
 * @param samples folder or file of samples; with several models a folder that holds one for each, named like the model
 * @param labels their labels
 */
public record QuantizeSpec(QuantizeOptions options, Optional<Path> samples, Optional<Path> labels) {
    /** Models stay as they are. */
    public static final QuantizeSpec NONE = new QuantizeSpec(QuantizeOptions.NONE, Optional.empty(), Optional.empty());

    /**
     * Reads the parameters.
     *
     * @param mode {@code kiln.quantize}
     * @param method {@code .method}
     * @param equalize {@code .equalize}
     * @param io {@code .io}
     * @param keepFloat {@code .keepFloat}, separated by commas
     * @param limits {@code .maxAccuracyLoss} and {@code .minSqnr}
     * @throws io.kiln.base.KilnException with all values that are not allowed
     */
    public static QuantizeOptions options(
            String mode, String method, String equalize, String io, String keepFloat, QuantizeOptions.Limits limits) {
        Problems problems = new Problems(Failure.CONFIG);
        Optional<QuantizeMode> modeValue =
                problems.read(() -> ParameterValue.of("kiln.quantize", QuantizeMode.class, mode));
        Optional<RangeMethod> methodValue =
                problems.read(() -> ParameterValue.of("kiln.quantize.method", RangeMethod.class, method));
        Optional<Equalize> equalizeValue =
                problems.read(() -> ParameterValue.of("kiln.quantize.equalize", Equalize.class, equalize));
        Optional<Border> border = problems.read(() -> ParameterValue.of("kiln.quantize.io", Border.class, io));
        Stream.of(limits.maxAccuracyLoss(), limits.minSqnr())
                .flatMap(Optional::stream)
                .filter(limit -> !Double.isFinite(limit))
                .forEach(limit -> problems.add("a limit of kiln.quantize is " + limit, "", "a number"));
        problems.throwIfAny();
        List<String> names = Stream.of(keepFloat.split(",", -1))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .toList();
        return new QuantizeOptions(
                modeValue.orElseThrow(),
                methodValue.orElseThrow(),
                equalizeValue.orElseThrow(),
                names,
                border.equals(Optional.of(Border.FLOAT)),
                limits);
    }

    /** The values of {@code kiln.quantize.io}. */
    private enum Border {
        /** The integers of the quantized model: int8, or int16 for int16x8. */
        INT8,
        FLOAT
    }

    public boolean isActive() {
        return options.isActive();
    }

    /**
     * The request for a model.
     *
     * @param model its name, if the build has several models; empty for the only one
     * @param others reads pictures and recordings
     */
    public QuantizeRequest request(Optional<String> model, OtherSamples others, Runs.Progress progress) {
        return new QuantizeRequest(
                options,
                folder(samples, model),
                labels.map(file -> folder(Optional.of(file), model)),
                others,
                progress);
    }

    private static Path folder(Optional<Path> path, Optional<String> model) {
        Path all = path.orElse(Path.of(""));
        return model.map(all::resolve).orElse(all);
    }

    /** Checks that the samples are there. */
    public void check(Problems problems, Problems missing) {
        if (!isActive()) {
            return;
        }
        if (samples.isEmpty()) {
            problems.add(
                    "kiln.quantize is " + options.mode().text() + ", and no samples are given",
                    "",
                    "kiln.quantize.samples: a folder of input_0.bin and so on, of pictures or of recordings, or a file"
                            + " .npy or .npz",
                    "Set kiln.quantize.samples to 100 to 500 typical inputs");
        }
        samples.filter(path -> !Files.exists(path))
                .ifPresent(path -> missing.add(
                        "the samples do not exist",
                        path.toString(),
                        "a folder or a file",
                        "Correct kiln.quantize.samples"));
        labels.filter(path -> !Files.exists(path))
                .ifPresent(path -> missing.add(
                        "the labels do not exist", path.toString(), "a file", "Correct kiln.quantize.labels"));
    }
}
