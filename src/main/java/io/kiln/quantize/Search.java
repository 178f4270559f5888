// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.quantize.Quantized.Advice;
import io.kiln.quantize.Quantized.Trial;
import io.kiln.quantize.Quantizer.Equalizer;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.plan.Plan.QuantizedNetwork;
import io.kiln.quantize.plan.Planner;
import io.kiln.quantize.plan.Planner.Wishes;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.quality.Evaluation;
import io.kiln.quantize.quality.Quality;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Tries precisions of single layers. */
record Search(Planner planner, QuantizedNetwork.Maker maker, FloatGraph graph, List<Sample> samples) {
    /** Samples for a trial; more cost time and change little. */
    private static final int SAMPLES = 8;

    private static final int WORST = 3;

    /** The least that is worth a change, in dB: the last digit that is shown. */
    private static final double LEAST_GAIN = 0.1;

    /** What a search for mixed precision keeps if no limit is given, in dB. */
    private static final double USUAL_SQNR = 20;

    /** What a search chose, and what it tried. */
    record Found(Wishes wishes, List<Trial> trials) {}

    private Quality quality(Wishes wishes, List<Sample> of) {
        return Evaluation.of(maker.make(planner.plan(wishes)), of, Runs.Progress.NONE);
    }

    private List<Sample> few() {
        return few(samples);
    }

    /** The samples for a trial. */
    static List<Sample> few(List<Sample> samples) {
        return samples.subList(0, Math.min(SAMPLES, samples.size()));
    }

    /**
     * What int16 or float gives back for the layers that add most noise, best first. A few samples tell which are worth a trial; these are then
     * quantized anew as the parameters would do it and measured over all samples. What gains nothing is no advice.
     */
    List<Advice> advice(Wishes wishes, Quality quality, Equalizer equalizer) {
        List<Idea> ideas = new ArrayList<>();
        double usual = quality(wishes, few()).sqnr();
        for (Node node : worst(wishes, quality)) {
            for (Precision precision : List.of(Precision.INT16, Precision.FLOAT)) {
                if (precision != wishes.usual() && Planner.isPossible(node, precision)) {
                    Wishes other = with(wishes, node, precision);
                    ideas.add(new Idea(
                            node, precision, other, quality(other, few()).sqnr()));
                }
            }
        }
        return ideas.stream()
                .filter(idea -> idea.sqnr >= usual + LEAST_GAIN)
                .sorted(Comparator.comparingDouble(Idea::sqnr).reversed())
                .limit(WORST)
                .map(idea -> new Advice(idea.node.name(), idea.precision.text(), measured(idea.wishes, equalizer)))
                .filter(advice -> advice.sqnr() >= quality.sqnr() + LEAST_GAIN)
                .sorted(Comparator.comparingDouble(Advice::sqnr).reversed())
                .toList();
    }

    private record Idea(Node node, Precision precision, Wishes wishes, double sqnr) {}

    /** Other layers of the same name change with it, as by a parameter that gives the name. */
    private Wishes with(Wishes wishes, Node node, Precision precision) {
        return graph.nodes().stream()
                .filter(other -> other.name().equals(node.name()) && Planner.isPossible(other, precision))
                .reduce(wishes, (all, other) -> all.with(other, precision), (a, b) -> b);
    }

    private double measured(Wishes wishes, Equalizer equalizer) {
        QuantizedNetwork network =
                maker.make(equalizer.calibrated(wishes).planner().plan(wishes));
        return Evaluation.of(network, samples, Runs.Progress.NONE).sqnr();
    }

    /** The layers with weights that are least like the float ones. */
    private List<Node> worst(Wishes wishes, Quality quality) {
        return graph.nodes().stream()
                .filter(node -> node.layer().isPresent()
                        && quality.nodes().containsKey(node.output())
                        && !wishes.others().containsKey(node.output()))
                .sorted(Comparator.comparingDouble(
                        node -> quality.nodes().get(node.output()).decibels()))
                .limit(WORST)
                .toList();
    }

    /**
     * The cheapest precisions that keep the limits: while int8 does not, the layer whose int16 or float gives back most
     * for its multiply-accumulates gets it. Layers are taken in the order of what each gives back alone; if that does not suffice, those of
     * int16 become float in the same order.
     */
    Found mixed(Wishes wishes, QuantizeOptions.Limits limits) {
        List<Trial> trials = new ArrayList<>();
        Wishes current = wishes;
        if (isEnough(current, limits, trials)) {
            return new Found(current, trials);
        }
        for (Step step : steps(wishes)) {
            current = current.with(step.node, step.precision);
            if (isEnough(current, limits, trials)) {
                break;
            }
        }
        return new Found(current, trials);
    }

    /** A layer's other precision and what it gives back for its work. */
    private record Step(Node node, Precision precision, double gain) {}

    private List<Step> steps(Wishes wishes) {
        double usual = quality(wishes, few()).sqnr();
        List<Step> steps = new ArrayList<>();
        for (Node node : graph.nodes()) {
            if (Planner.isArithmetic(node) && !wishes.others().containsKey(node.output())) {
                double wide = Planner.isPossible(node, Precision.INT16)
                        ? quality(wishes.with(node, Precision.INT16), few()).sqnr()
                        : Double.NEGATIVE_INFINITY;
                double real = quality(wishes.with(node, Precision.FLOAT), few()).sqnr();
                boolean needsFloat = real - usual > 2 * Math.max(0, wide - usual);
                double work = Math.log((double) Math.max(2, node.macs()));
                steps.add(new Step(
                        node,
                        needsFloat ? Precision.FLOAT : Precision.INT16,
                        ((needsFloat ? real : wide) - usual) / work));
            }
        }
        steps.sort(Comparator.comparingDouble(Step::gain).reversed());
        List<Step> wide = steps.stream()
                .filter(step -> step.precision == Precision.INT16)
                .map(step -> new Step(step.node, Precision.FLOAT, step.gain))
                .toList();
        steps.addAll(wide);
        return steps;
    }

    private boolean isEnough(Wishes wishes, QuantizeOptions.Limits limits, List<Trial> trials) {
        Quality quality = quality(wishes, samples);
        boolean isAccurate = limits.maxAccuracyLoss()
                .map(most -> quality.accuracy().orElseThrow().loss() <= most)
                .orElse(true);
        boolean isUsual = limits.maxAccuracyLoss().isEmpty() && limits.minSqnr().isEmpty();
        double least = limits.minSqnr().orElse(isUsual ? USUAL_SQNR : Double.NEGATIVE_INFINITY);
        boolean isEnough = isAccurate && quality.sqnr() >= least;
        trials.add(new Trial(names(wishes), quality.sqnr(), quality.agreement(), isEnough));
        return isEnough;
    }

    private Map<String, String> names(Wishes wishes) {
        Map<String, String> names = new LinkedHashMap<>();
        for (Node node : graph.nodes()) {
            if (wishes.others().containsKey(node.output())) {
                names.put(node.name(), wishes.others().get(node.output()).text());
            }
        }
        return names;
    }
}
