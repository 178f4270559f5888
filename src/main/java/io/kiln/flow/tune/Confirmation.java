// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompiledModel;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.tune.ProgramSearch.ImageCost;
import io.kiln.flow.tune.ProgramSearch.SearchBudget;
import io.kiln.ir.Function;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.TaskKey;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
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
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Holds what a search leaves behind to the whole models: they never cost more than without the project's log, nor than with the log that was there.
 * A layer that runs row by row in its model may cost more there than alone, so its record is withdrawn: its line gets error 8. If the models still
 * cost more, or need a larger workspace, all layers go back to the choices that a build makes without the log. A search that gained nothing
 * leaves the log as it was.
 */
final class Confirmation {
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
                key.workload(), after.operators().get(name) - before.operators().get(name), Long::sum));
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
        all.replaceAll(record ->
                withdrawn.getOrDefault(record.task().workload(), other -> false).test(record)
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
