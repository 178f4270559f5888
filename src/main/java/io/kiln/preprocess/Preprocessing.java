// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.preprocess.AudioPipeline.Cepstrum;
import io.kiln.preprocess.AudioPipeline.Framing;
import io.kiln.preprocess.AudioPipeline.InputScale;
import io.kiln.preprocess.AudioPipeline.Log;
import io.kiln.preprocess.AudioPipeline.Mel;
import io.kiln.preprocess.AudioPipeline.MelFilters;
import io.kiln.preprocess.AudioPipeline.Normalization;
import io.kiln.preprocess.AudioPipeline.Shape;
import io.kiln.preprocess.AudioPipeline.Spectrum;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

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

    /**
     * Makes a pipeline of a document, and reports values that do not fit together. Violations of the schema have been reported already;
     * harmless values replace them here, so that the rest is checked too.
     */
    private record PipelineReader(YamlDocument document, Problems problems) {
        private static final int MAX_RATE = 192_000;

        /** Largest ratio of scales, which are multiplied as integers with one shift: the smallest keeps 14 bits. */
        private static final int MAX_RATIO = 1 << 16;

        /** The pipeline; without problems it can be planned. */
        AudioPipeline read() {
            int sampleRate = integer("/sampleRate", 1000, MAX_RATE, MAX_RATE);
            Framing framing = framing();
            Spectrum spectrum = spectrum(framing.window());
            Optional<Mel> mel = section("/mel") ? Optional.of(mel(sampleRate)) : Optional.empty();
            if (problems.isEmpty()) {
                mel.ifPresent(bank -> checkFilters(bank, sampleRate, spectrum));
            }
            Optional<Log> log = section("/log") ? Optional.of(log(spectrum.fft())) : Optional.empty();
            int channels = mel.map(Mel::channels).orElse(spectrum.bins());
            Optional<Cepstrum> cepstrum =
                    section("/dct") ? Optional.of(cepstrum(channels, log.isPresent())) : Optional.empty();
            int features = cepstrum.map(Cepstrum::coefficients).orElse(channels);
            return new AudioPipeline(sampleRate, framing, spectrum, mel, log, cepstrum, normalization(features));
        }

        private Framing framing() {
            return new Framing(
                    integer("/frames/window", 8, 4096, 8),
                    integer("/frames/hop", 1, 65_536, 1),
                    shape(text("/frames/shape", "hann")),
                    real("/frames/preEmphasis", 0, 0, 0.9999));
        }

        private static Shape shape(String text) {
            return Arrays.stream(Shape.values())
                    .filter(shape -> shape.name().toLowerCase(Locale.ROOT).equals(text))
                    .findFirst()
                    .orElse(Shape.HANN);
        }

        private Spectrum spectrum(int window) {
            int next = Math.max(16, Integer.highestOneBit(window - 1) * 2);
            int given = integer("/spectrum/fft", 16, 4096, next);
            int fft = Integer.bitCount(given) == 1 ? given : next;
            if (fft < window) {
                problem(
                        "a transform of " + fft + " points does not take a window of " + window + " samples",
                        "/spectrum/fft",
                        "a power of two from " + window + " on");
            }
            return new Spectrum(fft, text("/spectrum/of", "power").equals("power"));
        }

        private Mel mel(int sampleRate) {
            double nyquist = sampleRate / 2.0;
            double lower = real("/mel/lower", 0, 0, nyquist);
            double upper = real("/mel/upper", nyquist, 0, nyquist);
            if (lower >= upper) {
                problem(
                        "the filterbank ends where it begins, or before",
                        "/mel/lower",
                        "a lower edge below the upper one");
            }
            return new Mel(
                    integer("/mel/channels", 1, 128, 1),
                    lower,
                    upper,
                    text("/mel/scale", "htk").equals("slaney"),
                    text("/mel/triangles", "hz").equals("mel"),
                    text("/mel/norm", "none").equals("slaney"));
        }

        private void checkFilters(Mel mel, int sampleRate, Spectrum spectrum) {
            if (mel.channels() > spectrum.bins()) {
                problem(
                        mel.channels() + " channels are more than the " + spectrum.bins() + " bins of the spectrum",
                        "/mel/channels",
                        "fewer channels, or a longer transform");
                return;
            }
            double[][] weights = MelFilters.weights(mel, sampleRate, spectrum.fft());
            double peak = mel.isOfEqualArea() ? 2 / (mel.upper() - mel.lower()) : 1;
            double most = Arrays.stream(weights).flatMapToDouble(Arrays::stream).reduce(peak, Math::max);
            // Edges that are equal as floating-point numbers give weights of NaN, which no comparison finds above 0.
            List<Integer> empty = IntStream.range(0, weights.length)
                    .filter(c -> Arrays.stream(weights[c]).noneMatch(weight -> weight > most / (1 << 15)))
                    .boxed()
                    .toList();
            if (!empty.isEmpty()) {
                problem(
                        "no bin of the spectrum lies in the channels " + empty + ", whose filters are too narrow",
                        "/mel/channels",
                        "fewer channels, a longer transform, or a higher lower edge");
            }
        }

        private Log log(int fft) {
            double base = switch (text("/log/base", "e")) {
                case "2" -> 2;
                case "10" -> 10;
                default -> Math.E;
            };
            double most = (double) fft * fft / 4;
            return new Log(
                    base,
                    real("/log/scale", 1, 0.001, 100),
                    real("/log/offset", 0, 0, most),
                    real("/log/floor", 0, 0, most));
        }

        private Cepstrum cepstrum(int channels, boolean hasLog) {
            int coefficients = integer("/dct/coefficients", 1, 128, 1);
            if (coefficients > channels) {
                problem(
                        coefficients + " coefficients are more than the " + channels + " channels",
                        "/dct/coefficients",
                        "at most " + channels);
            }
            if (!hasLog) {
                problem("the cosine transform is one of logarithms", "/dct", "log: beside it");
            }
            if (channels > 128) {
                problem("the cosine transform has " + channels + " channels", "/dct", "mel: with at most 128");
            }
            return new Cepstrum(coefficients, text("/dct/norm", "ortho").equals("ortho"));
        }

        private Normalization normalization(int features) {
            List<Double> scales = reals("/normalize/scale", 1, 1e-6, 1e6, features);
            if (Collections.max(scales) > MAX_RATIO * Collections.min(scales)) {
                problem(
                        "the largest scale is more than " + MAX_RATIO + " times the least",
                        "/normalize/scale",
                        "scales with which the features are of similar size");
            }
            return new Normalization(reals("/normalize/mean", 0, -8000, 8000, features), scales, inputScale());
        }

        private Optional<InputScale> inputScale() {
            return section("/quantize")
                    ? Optional.of(new InputScale(
                            (float) real("/quantize/scale", 1, 1e-9, 1e9),
                            at("/quantize/zeroPoint").asInt()))
                    : Optional.empty();
        }

        private List<Double> reals(String pointer, double usual, double least, double most, int features) {
            JsonNode node = at(pointer);
            if (!node.isArray()) {
                return List.of(real(pointer, usual, least, most));
            }
            if (node.size() != features && problems.isEmpty()) {
                problem(
                        node.size() + " numbers for " + features + " features",
                        pointer,
                        "one number, or one for each feature");
            }
            List<Double> reals = new ArrayList<>();
            for (int i = 0; i < node.size(); i++) {
                reals.add(real(pointer + "/" + i, usual, least, most));
            }
            return reals;
        }

        private double real(String pointer, double usual, double least, double most) {
            JsonNode node = at(pointer);
            double value = number(node.asText()).orElse(usual);
            if (value < least || value > most) {
                problem(
                        pointer.substring(1).replace('/', '.') + " is " + node.asText(),
                        pointer,
                        "from " + plain(least) + " to " + plain(most));
            }
            return value;
        }

        private static Optional<Double> number(String text) {
            try {
                return Optional.of(Double.valueOf(text)).filter(Double::isFinite);
            } catch (NumberFormatException e) {
                return Optional.empty();
            }
        }

        private int integer(String pointer, int least, int most, int harmless) {
            int value = at(pointer).asInt(harmless);
            return value >= least && value <= most ? value : harmless;
        }

        private static String plain(double value) {
            return value == Math.rint(value) ? String.valueOf((long) value) : String.valueOf(value);
        }

        private boolean section(String pointer) {
            return !at(pointer).isMissingNode();
        }

        private String text(String pointer, String usual) {
            return at(pointer).asText(usual);
        }

        private JsonNode at(String pointer) {
            return document.root().at(pointer);
        }

        private void problem(String what, String pointer, String expected) {
            problems.add(what, document.exactly(pointer), expected, "");
        }
    }
}
