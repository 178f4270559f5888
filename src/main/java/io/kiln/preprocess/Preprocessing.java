// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.preprocess.AudioPipeline.InputScale;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The signal processing before a model, as its file describes it; see {@code toolchains/schemas/preprocess.schema.json}.
 *
 * @param pipeline what is computed
 * @param document the file, for messages
 */
public record Preprocessing(AudioPipeline pipeline, YamlDocument document) {
    /** Ending of the files that lie beside models. */
    public static final String SUFFIX = ".preprocess.yaml";

    private static final Set<DType> TYPES = Set.of(DType.INT8, DType.UINT8, DType.INT16);

    /** Far more than a model for a microcontroller hears at once. */
    private static final long MAX_SAMPLES = 4_000_000;

    /** Loaded only if there is such a file. */
    private static final class Schema {
        static final YamlSchema OF_PIPELINES = new YamlSchema("preprocess.schema.json");
    }

    /** The file beside a model: its name without the extension, and {@link #SUFFIX}; empty if there is none. */
    public static Optional<Path> beside(Path model) {
        return Optional.of(place(model)).filter(Files::isRegularFile);
    }

    /** Where the file beside a model lies, if there is one. */
    public static Path place(Path model) {
        String name = model.getFileName().toString();
        String stem = name.contains(".") ? name.substring(0, name.lastIndexOf('.')) : name;
        return model.resolveSibling(stem + SUFFIX);
    }

    /**
     * Reads a file.
     *
     * @throws KilnException with every mistake, each with its line and column
     */
    public static Preprocessing read(Path file) {
        return parse(file.toString(), YamlDocument.content(file));
    }

    static Preprocessing parse(String name, Bytes content) {
        YamlDocument document = YamlDocument.parse(name, content);
        Problems problems = new Problems(Failure.AUDIO);
        Schema.OF_PIPELINES.checkExactly(document, problems);
        AudioPipeline pipeline = new PipelineReader(document, problems).read();
        problems.throwIfAny();
        return new Preprocessing(pipeline, document);
    }

    /**
     * The preprocessing of a model.
     *
     * @throws KilnException with every property of the model's input that does not fit
     */
    public ModelPreprocessing of(ModelMetadata model) {
        return new ModelPreprocessing(plan(model), new InterfaceNames(model.name()), document.name());
    }

    /**
     * Samples of audio for a model's input of floats or integers.
     *
     * @throws KilnException if rows of features do not fill it
     */
    public int samples(TensorInfo input) {
        Problems problems = new Problems(Failure.AUDIO);
        checkShape(input, problems);
        checkLogarithms(input, problems);
        problems.throwIfAny();
        long frames = input.elements() / pipeline.features();
        return Math.toIntExact(
                pipeline.framing().window() + (frames - 1) * pipeline.framing().hop());
    }

    /**
     * Real features for an input of floats: what the integers of {@link FeatureInterpreter} stand for, before they are quantized.
     *
     * @param audio {@link #samples(TensorInfo)} or more
     */
    public float[] features(TensorInfo input, short[] audio) {
        TensorInfo any = PreprocessPlanner.unquantized(pipeline, input);
        return new FeatureInterpreter(PreprocessPlanner.plan(pipeline, any))
                .features(audio, PreprocessPlanner.energyBits(pipeline, any));
    }

    /** The features as an input of integers, as the image computes them. */
    public Bytes input(TensorInfo input, short[] audio) {
        return new FeatureInterpreter(plan(input)).input(audio);
    }

    PreprocessPlan plan(ModelMetadata model) {
        Problems problems = new Problems(Failure.AUDIO);
        if (model.inputs().size() != 1) {
            problem(
                    "model `" + model.name() + "` has " + model.inputs().size() + " inputs",
                    "",
                    "a model with one, which the features fill",
                    problems);
            problems.throwIfAny();
        }
        return plan(model.inputs().get(0));
    }

    private PreprocessPlan plan(TensorInfo given) {
        Problems problems = new Problems(Failure.AUDIO);
        TensorInfo input = scaled(given, problems);
        checkType(input, problems);
        checkShape(input, problems);
        problems.throwIfAny();
        return PreprocessPlanner.plan(pipeline, input);
    }

    /** The input with the quantization that the description states; it must equal that in the model's file, if there is one. */
    private TensorInfo scaled(TensorInfo input, Problems problems) {
        if (pipeline.normalization().input().isEmpty()) {
            return input;
        }
        InputScale given = pipeline.normalization().input().get();
        if (input.scale() > 0 && (input.scale() != given.scale() || input.zeroPoint() != given.zeroPoint())) {
            problem(
                    "the model's input " + described(input) + " has the scale " + input.scale() + " and the zero point "
                            + input.zeroPoint(),
                    "/quantize",
                    "the same, or no quantize:",
                    problems);
        }
        long low = input.dtype() == DType.UINT8 ? 0 : -(1L << (8 * input.dtype().bytes() - 1));
        if (given.zeroPoint() < low
                || given.zeroPoint() - low >= 1L << (8 * input.dtype().bytes())) {
            problem(
                    "the zero point " + given.zeroPoint() + " is none of "
                            + input.dtype().text(),
                    "/quantize/zeroPoint",
                    "a value of the model's input",
                    problems);
        }
        return new TensorInfo(
                input.name(), input.cName(), input.dtype(), input.shape(), given.scale(), given.zeroPoint());
    }

    private void checkType(TensorInfo input, Problems problems) {
        if (!TYPES.contains(input.dtype())) {
            problem(
                    "the features are integers, and " + described(input) + " is not of such a type",
                    "",
                    "int8, uint8 or int16: quantize the model, with integers as its inputs",
                    problems);
        } else if (!(input.scale() > 0)) {
            problem(
                    "the model's input " + described(input) + " has no scale",
                    "",
                    "quantize: with its scale",
                    problems);
        } else if (!PreprocessPlanner.fits(pipeline, input)) {
            problem(
                    "a feature times its scale is out of the range of " + described(input) + ", whose scale is "
                            + input.scale(),
                    "/normalize/scale",
                    "a scale with which typical features fit",
                    problems);
        } else {
            checkLogarithms(input, problems);
        }
    }

    private void checkLogarithms(TensorInfo input, Problems problems) {
        if (!PreprocessPlanner.hasSmallLogarithms(pipeline, input)) {
            problem(
                    "logarithms of this scale, or the coefficients of their cosine transform, can exceed 32,767",
                    "/log/scale",
                    "a smaller scale, with a larger one in normalize:",
                    problems);
        }
    }

    /** Dimensions of 1 do not count: rows of features, or all of them in a row. */
    private void checkShape(TensorInfo input, Problems problems) {
        int features = pipeline.features();
        List<Integer> shape =
                input.shape().stream().filter(dimension -> dimension != 1).toList();
        boolean isFlat = shape.size() <= 1 && input.elements() % features == 0;
        boolean isRows = shape.size() == 2 && shape.get(1) == features;
        if (!isFlat && !isRows) {
            String pointer = pipeline.cepstrum().isPresent()
                    ? "/dct/coefficients"
                    : pipeline.mel().isPresent() ? "/mel/channels" : "/spectrum";
            problem(
                    "a row has " + features + " features, which do not fill " + described(input),
                    pointer,
                    "an input of rows of " + features + ", such as [1, frames, " + features + "]",
                    problems);
            return;
        }
        long frames = input.elements() / features;
        long samples =
                pipeline.framing().window() + (frames - 1) * pipeline.framing().hop();
        if (samples > MAX_SAMPLES) {
            problem(
                    "one input of the model takes " + samples + " samples",
                    "/frames/hop",
                    "at most " + MAX_SAMPLES,
                    problems);
        }
    }

    private static String described(TensorInfo input) {
        return "`" + input.name() + "` " + input.dtype().text() + input.shape();
    }

    private void problem(String what, String pointer, String expected, Problems problems) {
        problems.add(what, document.exactly(pointer), expected, "");
    }
}
