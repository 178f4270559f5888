// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompiledModel;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.tune.CandidateMeasurer.Candidate;
import io.kiln.flow.tune.CandidateMeasurer.Measured;
import io.kiln.flow.tune.ProgramSearch.ImageCost;
import io.kiln.flow.tune.ProgramSearch.SearchBudget;
import io.kiln.ir.Function;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.Dispatch;
import io.kiln.schedule.space.Configuration;
import io.kiln.target.Target;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.RecordReader;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

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

    /**
     * Holds what a search leaves behind to the whole models: they never cost more than without the project's log, nor than with the log that was there.
     * A layer that runs row by row in its model may cost more there than alone, so its record is withdrawn: its line gets error 8. If the models still
     * cost more, or need a larger workspace, all layers go back to the choices that a build makes without the log. A search that gained nothing
     * leaves the log as it was.
     */
    static final class Confirmation {
        private static final int MOST_ROUNDS = 3;

        private final Log log;
        private final WholeModels whole;
        private final Path records;
        private final SearchBudget budget;
        private final ImageCost cost;
        private final boolean isRamSought;
        private final Map<String, TaskKey> keys = new LinkedHashMap<>();
        private final Optional<String> logBefore;
        private final WholeModels.Image before;
        private final WholeModels.Image begun;

        /** Measures the models as they are, before the search adds to the log. */
        Confirmation(
                Log log,
                WholeModels whole,
                Path records,
                List<CompiledModel> models,
                ResolvedBuild build,
                Objective objective,
                SearchBudget budget) {
            this.log = log;
            this.whole = whole;
            this.records = records;
            this.budget = budget;
            this.cost = new ImageCost(objective);
            this.isRamSought = objective.metrics().contains(Metric.RAM);
            for (CompiledModel model : models) {
                Function fused = model.stages().get(model.stages().size() - 1).function();
                String prefix = new InterfaceNames(model.library().metadata().name()).prefix();
                Target target = Target.parse(build.target());
                for (FusedOperator op : FusedOperator.all(fused, prefix)) {
                    if (Dispatch.hasChoice(op)) {
                        ConvComputation conv = ConvComputation.of(op);
                        keys.put(
                                op.name(),
                                TaskKeys.of(op, conv, target, build.spec().optimize(), objective));
                    }
                }
            }
            logBefore = read(records);
            Instant start = budget.now();
            before = whole.measure(records.resolveSibling("no-records"), "before", cost.inCycles());
            budget.imageTook(Duration.between(start, budget.now()));
            begun = logBefore.isPresent() ? whole.measure(records, "begun", cost.inCycles()) : before;
        }

        private static Optional<String> read(Path records) {
            if (!Files.exists(records)) {
                return Optional.empty();
            }
            return Optional.of(WholeFiles.text(records));
        }

        /** The image without the project's log. */
        WholeModels.Image before() {
            return before;
        }

        /**
         * The change of the models' cost that the best of the layers promise, in percent of the whole.
         *
         * @param searches what was found so far
         * @return empty if the objective is not a sum over operators
         */
        Optional<Double> promised(List<TaskSearch> searches) {
            if (!cost.isOfOperators()) {
                return Optional.empty();
            }
            Map<String, Double> ratios = new HashMap<>();
            for (TaskSearch search : searches) {
                if (search.best().isPresent() && search.before().isPresent()) {
                    ratios.put(
                            search.task().key().workload(),
                            search.best().getAsDouble() / search.before().getAsDouble());
                }
            }
            double gain = 0;
            for (Map.Entry<String, TaskKey> operator : keys.entrySet()) {
                double ratio = ratios.getOrDefault(operator.getValue().workload(), 1.0);
                gain += before.operators().get(operator.getKey()) * (1 - ratio);
            }
            return Optional.of(-100 * gain / cost.of(before.sizes(), before.sizes()));
        }

        /**
         * Withdraws records until the rest costs no more than before.
         *
         * @param tasks the layers with the choices that a build makes without the log
         * @return the image with the records that are left
         */
        WholeModels.Image run(List<LayerTask> tasks) {
            for (int round = 0; round < MOST_ROUNDS && budget.allowsImage(); round++) {
                WholeModels.Image after = whole.measure(records, "after", cost.inCycles());
                Set<String> slower = slower(after);
                if (slower.isEmpty() && !isWorse(after)) {
                    return after;
                }
                Set<String> all = new TreeSet<>(keys.keySet());
                withdraw(slower.isEmpty() ? all : slower, tasks, round == MOST_ROUNDS - 1 || slower.isEmpty());
            }
            if (budget.allowsImage()) {
                WholeModels.Image after = whole.measure(records, "after", cost.inCycles());
                if (!isWorse(after)) {
                    return after;
                }
            }
            withdraw(keys.keySet(), tasks, true);
            return before;
        }

        private boolean isWorse(WholeModels.Image after) {
            boolean isLarger = after.workspace() > before.workspace() && !isRamSought;
            return isLarger || (cost.isMeasured() && of(after) > of(before));
        }

        private double of(WholeModels.Image image) {
            return cost.of(image.sizes(), before.sizes());
        }

        /** Operators whose records cost more in the whole model than the choices without them. */
        private Set<String> slower(WholeModels.Image after) {
            if (!cost.isOfOperators()) {
                return Set.of();
            }
            Map<String, Long> growth = new TreeMap<>();
            keys.forEach((name, key) -> growth.merge(
                    key.workload(),
                    after.operators().get(name) - before.operators().get(name),
                    Long::sum));
            Set<String> slower = new TreeSet<>();
            HistoryBest best = new HistoryBest(RecordFiles.open(records).records());
            keys.forEach((name, key) -> {
                if (growth.get(key.workload()) > 0 && best.find(key).isPresent()) {
                    slower.add(name);
                }
            });
            return slower;
        }

        /**
         * Gives records error 8.
         *
         * @param isWhole whether layers go back to the choices without the log; otherwise their next best records come into force
         */
        private void withdraw(Set<String> operators, List<LayerTask> tasks, boolean isWhole) {
            Map<String, LayerTask> byWorkload = new HashMap<>();
            tasks.forEach(task -> byWorkload.put(task.key().workload(), task));
            List<TuningRecord> all = new ArrayList<>(RecordFiles.open(records).records());
            HistoryBest best = new HistoryBest(all);
            Map<String, Predicate<TuningRecord>> withdrawn = new TreeMap<>();
            for (String operator : operators) {
                TaskKey key = keys.get(operator);
                Optional<LayerTask> task = Optional.ofNullable(byWorkload.get(key.workload()));
                best.find(key).filter(record -> !isUsual(record, task)).ifPresent(record -> {
                    log.info("Withdrawn, because it does not help in the whole model: index "
                            + record.config().index() + " of " + operator);
                    withdrawn.put(key.workload(), isWhole ? other -> !isUsual(other, task) : record::equals);
                });
            }
            all.replaceAll(record -> withdrawn
                            .getOrDefault(record.task().workload(), other -> false)
                            .test(record)
                    ? TuningRecord.of(
                            record.task(),
                            record.config(),
                            Result.failed(
                                    MeasureError.UNKNOWN, 0, record.result().timestamp()))
                    : record);
            RecordFiles.write(records, all);
        }

        /** Whether a record has the choice that a build makes without the log. */
        private static boolean isUsual(TuningRecord record, Optional<LayerTask> task) {
            return task.filter(layer -> layer.space()
                            .find(record.config())
                            .filter(layer.rule()::equals)
                            .isPresent())
                    .isPresent();
        }

        /**
         * Puts the log back as it was if the search gained nothing.
         *
         * @param after the image with what is in the log
         * @param measured where the measurements are kept instead
         * @return the image with what is left in the log
         */
        WholeModels.Image settle(WholeModels.Image after, Path measured) {
            boolean isGain = cost.isMeasured() ? of(after) < of(begun) : !isAsBegun();
            if (isGain || read(records).equals(logBefore)) {
                return after;
            }
            RecordFiles.write(measured, RecordFiles.open(records).records());
            restore();
            log.info("Nothing was gained in the whole model, so " + records
                    + (logBefore.isPresent() ? " stays as it was" : " is not written") + "; the measurements are in "
                    + measured);
            return begun;
        }

        private void restore() {
            if (logBefore.isPresent()) {
                WholeFiles.write(records, logBefore.get());
                return;
            }
            WholeFiles.delete(records);
        }

        /** Whether builds choose as they did when the search began. */
        private boolean isAsBegun() {
            HistoryBest now = new HistoryBest(RecordFiles.open(records).records());
            HistoryBest then = new HistoryBest(logBefore
                    .map(text -> RecordReader.parse(text, records.toString()).records())
                    .orElse(List.of()));
            return keys.values().stream()
                    .allMatch(key -> now.find(key)
                            .map(TuningRecord::config)
                            .equals(then.find(key).map(TuningRecord::config)));
        }
    }
}
