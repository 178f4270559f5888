// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.quantize.QuantizeOptions.Equalize;
import io.kiln.quantize.equalize.Equalization;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.plan.Plan.QuantizedNetwork;
import io.kiln.quantize.plan.Planner;
import io.kiln.quantize.plan.Planner.Wishes;
import io.kiln.quantize.quality.Evaluation;
import io.kiln.quantize.quality.Quality.Noise;
import io.kiln.quantize.range.Calibration;
import io.kiln.quantize.range.Calibration.Statistics;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Calibrates a network, with its channels equalized across layers where that is wanted. Not thread-safe. */
final class Equalizer {
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
                .mapToDouble(id -> equalized.get(id).decibels() - plain.get(id).decibels())
                .filter(gain -> gain != 0)
                .average()
                .orElse(0);
    }

    private Map<Integer, Noise> noise(Calibrated calibrated, List<Sample> few, Wishes wishes) {
        return Evaluation.of(maker.make(calibrated.planner().plan(wishes)), few, Runs.Progress.NONE)
                .nodes();
    }
}
