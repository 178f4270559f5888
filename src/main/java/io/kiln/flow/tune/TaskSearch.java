// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.tune.CandidateMeasurer.Candidate;
import io.kiln.flow.tune.CandidateMeasurer.Measured;
import io.kiln.schedule.space.Configuration;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import io.kiln.tuning.search.BoostedTuner;
import io.kiln.tuning.search.BoostedTuner.Sample;
import io.kiln.tuning.search.GeneticTuner;
import io.kiln.tuning.search.Tuner;
import io.kiln.tuning.search.Tuner.GridTuner;
import io.kiln.tuning.search.Tuner.RandomTuner;
import io.kiln.tuning.search.Tuner.SearchSpace;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.Objective.Mix;
import io.kiln.tuning.task.TaskKeys;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The search for one task. The configuration of the rules is measured first, and costs are compared with it. Configurations that need more
 * scratch than it are not tried, unless RAM is part of the objective: a faster model must not take more RAM.
 */
final class TaskSearch {
    /** A second in nanoseconds. Counts and sizes are treated as nanoseconds, one each. */
    private static final double NANOSECONDS = 1e9;

    private final LayerTask task;
    private final TuneSpec spec;
    private final List<Configuration> configurations;
    private final Tuner tuner;
    private final Map<Configuration, TuningRecord> known = new HashMap<>();
    private final List<Double> costs = new ArrayList<>();
    private Measured rule = Measured.failed(MeasureError.UNKNOWN);
    private int sinceBest;
    private boolean isRuleAsked;
    private boolean isExhausted;

    /** @param records of earlier searches, of all tasks */
    TaskSearch(LayerTask task, TuneSpec spec, List<TuningRecord> records) {
        this.task = task;
        this.spec = spec;
        this.configurations = eligible(task, spec.objective());
        this.tuner = tuner(records);
        records.stream()
                .filter(record -> isOwn(record.task()))
                .forEach(record -> task.space()
                        .find(record.config())
                        .filter(configurations::contains)
                        .ifPresent(configuration -> learn(configuration, record)));
    }

    private static List<Configuration> eligible(LayerTask task, Objective objective) {
        boolean isRamSought = objective.metrics().contains(Metric.RAM);
        long most = task.lower(task.rule()).scratchBytes();
        return task.space().configurations().stream()
                .filter(configuration ->
                        isRamSought || task.lower(configuration).scratchBytes() <= most)
                .toList();
    }

    private boolean isOwn(TaskKey other) {
        return other.target().equals(task.key().target())
                && other.workload().equals(task.key().workload());
    }

    private Tuner tuner(List<TuningRecord> records) {
        SearchSpace space = new SearchSpace(
                task.space().dimensions(),
                configurations.stream().map(task.space()::point).toList(),
                configurations.stream()
                        .map(c -> task.space().features(task.space().config(c)))
                        .toList());
        // Each task draws its own random numbers.
        long seed = spec.seed() * 31 + task.key().workload().hashCode();
        return switch (spec.tuner()) {
            case GRID -> new GridTuner(space);
            case RANDOM -> new RandomTuner(space, seed);
            case GA -> new GeneticTuner(space, seed);
            case XGB -> new BoostedTuner(space, seed, transfer(records));
        };
    }

    /** Records of other shapes and cores of the same family of layers, each relative to the best of its own. */
    private List<Sample> transfer(List<TuningRecord> records) {
        Map<String, Double> best = new HashMap<>();
        List<TuningRecord> others = records.stream()
                .filter(record -> TaskKeys.family(record.task()).equals(TaskKeys.family(task.key()))
                        && !record.task().workload().equals(task.key().workload())
                        && record.result().isMeasured()
                        && record.result().mean() > 0)
                .toList();
        others.forEach(
                record -> best.merge(record.task().workload(), record.result().mean(), Math::min));
        return others.stream()
                .map(record -> Sample.of(
                        task.space().features(record.config()),
                        best.get(record.task().workload()) / record.result().mean()))
                .toList();
    }

    LayerTask task() {
        return task;
    }

    /** Number of configurations that may be tried. */
    int size() {
        return Math.min(configurations.size(), Math.max(spec.limits().trials(), costs.size()));
    }

    /** Number of configurations of the space that need no more scratch than allowed. */
    int eligible() {
        return configurations.size();
    }

    int measured() {
        return known.size();
    }

    boolean isFinished() {
        boolean isIdle =
                spec.limits().earlyStopping() > 0 && sinceBest >= spec.limits().earlyStopping();
        return isExhausted
                || (isRuleAsked && isIdle)
                || known.size() >= Math.min(configurations.size(), spec.limits().trials());
    }

    /** The configurations to measure next; the first one is that of the rules. */
    List<Candidate> next(int most) {
        if (!isRuleAsked) {
            isRuleAsked = true;
            boolean isKnown = known.containsKey(task.rule()) && !(spec.objective() instanceof Mix);
            if (!isKnown && spec.limits().trials() > 0) {
                return List.of(new Candidate(task, task.rule()));
            }
        }
        if (isFinished()) {
            return List.of();
        }
        List<Candidate> next = tuner.next(Math.min(most, left())).stream()
                .map(point -> new Candidate(task, configurations.get(point)))
                .toList();
        isExhausted = next.isEmpty();
        return next;
    }

    /** The most measurements until the task may end. */
    private int left() {
        int trials = spec.limits().trials() - known.size();
        int patience = spec.limits().earlyStopping();
        return patience == 0 ? trials : Math.min(trials, patience - sinceBest);
    }

    /** Learns a measurement; the record of it, unless it was known. */
    Optional<TuningRecord> update(Configuration configuration, Measured measured, Instant now) {
        if (configuration.equals(task.rule())) {
            rule = measured;
        }
        if (known.containsKey(configuration)) {
            return Optional.empty();
        }
        double time = now.toEpochMilli() / 1000.0;
        OptionalDouble cost = cost(measured);
        Result result = cost.isPresent()
                ? new Result(List.of(cost.getAsDouble()), MeasureError.NONE, 0, time)
                : Result.failed(measured.isRight() ? MeasureError.UNKNOWN : measured.error(), 0, time);
        TuningRecord record = TuningRecord.of(task.key(), task.space().config(configuration), result);
        learn(configuration, record);
        return Optional.of(record);
    }

    private void learn(Configuration configuration, TuningRecord record) {
        OptionalDouble before = best();
        known.put(configuration, record);
        boolean isMeasured = record.result().isMeasured();
        boolean isBetter = isMeasured && (before.isEmpty() || record.result().mean() < before.getAsDouble());
        sinceBest = isBetter ? 0 : sinceBest + 1;
        costs.add(isMeasured ? record.result().mean() : Double.NaN);
        double cost = record.result().mean();
        tuner.update(configurations.indexOf(configuration), isMeasured ? 1 / Math.max(cost / reference(), 1e-9) : 0);
    }

    /** The first cost that was measured: scores are relative to it. */
    private double reference() {
        return costs.stream().filter(cost -> cost > 0).findFirst().orElse(1.0);
    }

    private OptionalDouble cost(Measured measured) {
        if (!measured.isRight()) {
            return OptionalDouble.empty();
        }
        if (spec.objective() instanceof Mix mix) {
            return rule.isRight() ? OptionalDouble.of(mixed(mix, measured) / NANOSECONDS) : OptionalDouble.empty();
        }
        double value = measured.metrics().get((Metric) spec.objective());
        return OptionalDouble.of(spec.objective() == Metric.TIME ? value : value / NANOSECONDS);
    }

    /** The cost of a mix of quantities, relative to the rules' configuration; a quantity that may be 0 counts from 1. */
    private double mixed(Mix mix, Measured measured) {
        return mix.weights().entrySet().stream()
                .mapToDouble(part -> part.getValue()
                        * (measured.metrics().get(part.getKey()) + 1)
                        / (rule.metrics().get(part.getKey()) + 1))
                .sum();
    }

    /** The costs in the order of measuring; NaN for failures. */
    List<Double> costs() {
        return List.copyOf(costs);
    }

    /** The smallest cost so far. */
    OptionalDouble best() {
        return costs.stream()
                .filter(cost -> !cost.isNaN())
                .mapToDouble(Double::doubleValue)
                .min();
    }

    /** The cost of the rules' configuration. */
    OptionalDouble before() {
        return Optional.ofNullable(known.get(task.rule()))
                .filter(record -> record.result().isMeasured())
                .map(record -> OptionalDouble.of(record.result().mean()))
                .orElse(OptionalDouble.empty());
    }

    /** The configuration with the smallest cost, the earliest of equals. */
    Optional<Configuration> winner() {
        Optional<Configuration> winner = Optional.empty();
        double least = Double.POSITIVE_INFINITY;
        for (Configuration configuration : configurations) {
            TuningRecord record = known.get(configuration);
            if (record != null
                    && record.result().isMeasured()
                    && (record.result().mean() < least
                            || (record.result().mean() == least && configuration.equals(task.rule())))) {
                least = record.result().mean();
                winner = Optional.of(configuration);
            }
        }
        return winner;
    }

    /** Number of configurations with wrong answers. */
    long wrong() {
        return known.values().stream()
                .filter(record -> record.result().error() == MeasureError.WRONG_ANSWER)
                .count();
    }
}
