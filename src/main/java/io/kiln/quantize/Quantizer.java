// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.ir.Function;
import io.kiln.quantize.QuantizeOptions.Equalize;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.Quantizer.Equalizer.Calibrated;
import io.kiln.quantize.equalize.Equalization;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.plan.Plan.QuantizedNetwork;
import io.kiln.quantize.plan.Planner;
import io.kiln.quantize.plan.Planner.Wishes;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.quality.Evaluation;
import io.kiln.quantize.quality.Quality;
import io.kiln.quantize.quality.Quality.Noise;
import io.kiln.quantize.range.Calibration;
import io.kiln.quantize.range.Calibration.Statistics;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Quantizes float models. The same model, samples and options give the same result to the bit.
 *
 * @param maker makes integer functions of plans
 * @param progress told about runs of the float model
 */
public record Quantizer(QuantizedNetwork.Maker maker, Runs.Progress progress) {
    /**
     * Quantizes a model.
     *
     * @param samples at least one
     * @throws KilnException if the model is not float, a name is unknown, values explode, or the result breaks a limit
     */
    public Quantized quantize(Function model, List<Sample> samples, QuantizeOptions options) {
        FloatGraph graph = FloatModel.of(model);
        Map<Integer, Precision> kept = keptFloat(graph, options);
        requireLabels(model, samples, options);
        Wishes wishes = new Wishes(options.mode().precision(), kept, options.floatBorder());
        Equalizer equalizer = new Equalizer(maker, graph, samples, options, progress);
        Calibrated calibrated = equalizer.calibrated(wishes);
        Planner planner = calibrated.planner();
        Search search = new Search(planner, maker, calibrated.graph(), samples);
        Search.Found found = options.mode() == QuantizeMode.AUTO
                ? search.mixed(wishes, options.limits())
                : new Search.Found(wishes, List.of());
        QuantizedNetwork network = maker.make(planner.plan(found.wishes()));
        Quality quality = Evaluation.of(network, samples, Runs.Progress.NONE);
        Quantized quantized = new Quantized(
                network,
                calibrated.equalized(),
                calibrated.statistics().ranges(),
                quality,
                samples.size(),
                options.mode() == QuantizeMode.AUTO ? List.of() : search.advice(wishes, quality, equalizer),
                found.trials());
        requireLimits(model, quantized, options.limits());
        return quantized;
    }

    private static Map<Integer, Precision> keptFloat(FloatGraph graph, QuantizeOptions options) {
        Map<Integer, Precision> kept = new HashMap<>();
        Problems problems = new Problems(Failure.QUANTIZE);
        for (String name : options.keepFloat()) {
            Pattern pattern = Pattern.compile(Stream.of(name.split("\\*", -1))
                    .map(Pattern::quote)
                    .reduce((a, b) -> a + ".*" + b)
                    .orElse(""));
            List<Node> found = graph.nodes().stream()
                    .filter(node -> pattern.matcher(node.name()).matches())
                    .toList();
            if (found.isEmpty()) {
                problems.add(
                        "no layer is named `" + name + "`",
                        "kiln.quantize.keepFloat",
                        "names such as "
                                + graph.nodes().stream()
                                        .limit(3)
                                        .map(Node::name)
                                        .toList(),
                        "The report quantized.json lists all names; * stands for any characters");
            }
            found.forEach(node -> kept.put(node.output(), Precision.FLOAT));
        }
        problems.throwIfAny();
        return kept;
    }

    private static void requireLabels(Function model, List<Sample> samples, QuantizeOptions options) {
        if (options.limits().maxAccuracyLoss().isPresent()
                && samples.stream().anyMatch(sample -> sample.label().isEmpty())) {
            throw Failure.QUANTIZE.exception(
                    "kiln.quantize.maxAccuracyLoss needs labels, and the samples have none",
                    model.name(),
                    "labels.csv in the folder of the samples, or kiln.quantize.labels",
                    "Add labels, or limit kiln.quantize.minSqnr");
        }
        long classes = model.types().get(model.results().get(0).id()).shape().elements();
        for (Sample sample : samples) {
            if (sample.label().filter(label -> label >= classes).isPresent()) {
                throw Failure.QUANTIZE.exception(
                        "the label of " + sample.name() + " is "
                                + sample.label().orElseThrow(),
                        model.name(),
                        "0 to " + (classes - 1) + ", the elements of the first output",
                        "Correct the labels");
            }
        }
    }

    private static String text(Quantized.Advice advice) {
        String measured = String.format(Locale.ROOT, " gives %.1f dB", advice.sqnr());
        return advice.precision().equals(Precision.FLOAT.text())
                ? "kiln.quantize.keepFloat=" + advice.layer() + measured + "; or set kiln.quantize to auto"
                : "Set kiln.quantize to auto: `" + advice.layer() + "` in " + advice.precision() + measured;
    }

    private static void requireLimits(Function model, Quantized quantized, QuantizeOptions.Limits limits) {
        Problems problems = new Problems(Failure.QUANTIZE);
        String layers = quantized.advice().stream()
                .findFirst()
                .map(Quantizer::text)
                .orElse("Give more samples, or another kiln.quantize.method");
        limits.minSqnr()
                .filter(least -> quantized.quality().sqnr() < least)
                .ifPresent(least -> problems.add(
                        String.format(
                                Locale.ROOT,
                                "the quantized outputs have a signal-to-noise ratio of %.1f dB",
                                quantized.quality().sqnr()),
                        model.name(),
                        least + " dB or more (kiln.quantize.minSqnr)",
                        layers));
        limits.maxAccuracyLoss()
                .filter(most -> quantized.quality().accuracy().orElseThrow().loss() > most)
                .ifPresent(most -> problems.add(
                        String.format(
                                Locale.ROOT,
                                "quantizing loses %.2f points of accuracy",
                                quantized.quality().accuracy().orElseThrow().loss()),
                        model.name(),
                        "a loss of at most " + most + " (kiln.quantize.maxAccuracyLoss)",
                        layers));
        problems.throwIfAny();
    }

    /** Calibrates a network, with its channels equalized across layers where that is wanted. Not thread-safe. */
    static final class Equalizer {
        /** What equalization must gain to be chosen by itself, in dB: half of the noise. */
        private static final double LEAST_GAIN = 3;

        private final QuantizedNetwork.Maker maker;
        private final List<Sample> samples;
        private final QuantizeOptions options;
        private final Calibrated plain;
        private final Optional<Equalization> equalization;
        private Optional<Calibrated> equalized = Optional.empty();

        /**
         * Runs the network on the samples.
         *
         * @param progress told about these runs
         */
        Equalizer(
                QuantizedNetwork.Maker maker,
                FloatGraph graph,
                List<Sample> samples,
                QuantizeOptions options,
                Runs.Progress progress) {
            this.maker = maker;
            this.samples = samples;
            this.options = options;
            Statistics statistics = Calibration.of(graph, samples, options.method(), progress);
            this.plain = new Calibrated(graph, statistics, List.of());
            this.equalization = options.equalize() == Equalize.NEVER
                    ? Optional.empty()
                    : Optional.of(Equalization.of(graph.function(), statistics.magnitudes()))
                            .filter(found -> !found.steps().isEmpty());
        }

        /**
         * A network with its statistics.
         *
         * @param equalized where channels were equalized
         */
        record Calibrated(FloatGraph graph, Statistics statistics, List<Equalization.Step> equalized) {
            Planner planner() {
                return new Planner(graph, statistics);
            }
        }

        /**
         * The network that is to be quantized.
         *
         * @param wishes what its quantized form is to be like, for comparing it with and without equalized channels
         */
        Calibrated calibrated(Wishes wishes) {
            boolean isWanted = equalization.isPresent()
                    && (options.equalize() == Equalize.ALWAYS
                            || gain(plain.graph(), equalization.get(), wishes) >= LEAST_GAIN);
            if (!isWanted) {
                return plain;
            }
            if (equalized.isEmpty()) {
                equalized = Optional.of(calibrated(equalization.get(), samples));
            }
            return equalized.get();
        }

        private Calibrated calibrated(Equalization equalization, List<Sample> of) {
            FloatGraph graph = FloatGraph.of(equalization.function());
            Statistics statistics = Calibration.of(graph, of, options.method(), Runs.Progress.NONE);
            return new Calibrated(graph, statistics, equalization.steps());
        }

        /**
         * What equalization gains in dB over a few samples: on average over the layers whose noise it changes
         * but whose own results it does not scale. The outputs
         * alone say less, because the fixed scale of a softmax hides most of the noise.
         */
        private double gain(FloatGraph graph, Equalization equalization, Wishes wishes) {
            List<Sample> few = Search.few(samples);
            Map<Integer, Noise> plain =
                    noise(calibrated(new Equalization(graph.function(), List.of(), Set.of()), few), few, wishes);
            Map<Integer, Noise> equalized = noise(calibrated(equalization, few), few, wishes);
            return graph.nodes().stream()
                    .filter(node ->
                            node.layer().isPresent() && !equalization.scaled().contains(node.output()))
                    .map(Node::output)
                    .filter(plain::containsKey)
                    .mapToDouble(
                            id -> equalized.get(id).decibels() - plain.get(id).decibels())
                    .filter(gain -> gain != 0)
                    .average()
                    .orElse(0);
        }

        private Map<Integer, Noise> noise(Calibrated calibrated, List<Sample> few, Wishes wishes) {
            return Evaluation.of(maker.make(calibrated.planner().plan(wishes)), few, Runs.Progress.NONE)
                    .nodes();
        }
    }
}
