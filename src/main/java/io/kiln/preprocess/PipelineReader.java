// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Problems;
import io.kiln.preprocess.AudioPipeline.Cepstrum;
import io.kiln.preprocess.AudioPipeline.Framing;
import io.kiln.preprocess.AudioPipeline.InputScale;
import io.kiln.preprocess.AudioPipeline.Log;
import io.kiln.preprocess.AudioPipeline.Mel;
import io.kiln.preprocess.AudioPipeline.Normalization;
import io.kiln.preprocess.AudioPipeline.Shape;
import io.kiln.preprocess.AudioPipeline.Spectrum;
import io.kiln.toolchain.yaml.YamlDocument;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Makes a pipeline of a document, and reports values that do not fit together. Violations of the schema have been reported already;
 * harmless values replace them here, so that the rest is checked too.
 */
record PipelineReader(YamlDocument document, Problems problems) {
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
            problem("the filterbank ends where it begins, or before", "/mel/lower", "a lower edge below the upper one");
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
