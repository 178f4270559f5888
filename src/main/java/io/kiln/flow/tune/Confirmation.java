// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Log;
import io.kiln.compile.CompiledModel;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.ir.Function;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.report.TuneReport;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.MeasureError;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.TaskKey;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.TaskKeys;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;

/**
 * Checks the records of a search on the whole models: a layer that runs row by row there may cost more than alone. The record of a
 * layer that became slower is withdrawn: its line gets error 8. So are those of all layers that became faster, if the workspace grew or the
 * models became slower all the same, which can happen if a layer prefers another number of rows. Records of other objectives than speed and
 * RAM are withdrawn if the workspace grew.
 */
final class Confirmation {
    private static final int MOST_ROUNDS = 4;
    private static final Set<Objective> SPEED = Set.of(Metric.INSTRUCTIONS, Metric.CYCLES);

    private final Log log;
    private final WholeModels whole;
    private final Path records;
    private final Map<String, TaskKey> keys = new LinkedHashMap<>();
    private final boolean isForSpeed;
    private final boolean inCycles;
    private final boolean isRamSought;
    private final WholeModels.Image before;
    private WholeModels.Image after;

    Confirmation(
            Log log,
            WholeModels whole,
            Path records,
            List<CompiledModel> models,
            ResolvedBuild build,
            Objective objective) {
        this.log = log;
        this.whole = whole;
        this.records = records;
        this.isForSpeed = SPEED.contains(objective);
        this.inCycles = objective == Metric.CYCLES;
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
        before = whole.measure(records.resolveSibling("no-records"), "before", inCycles);
        after = before;
    }

    WholeModels.Image before() {
        return before;
    }

    WholeModels.Image after() {
        return after;
    }

    /** Withdraws until the rest is a gain. */
    void run() {
        for (int round = 0; round < MOST_ROUNDS; round++) {
            after = whole.measure(records, "after", inCycles);
            Set<String> slower = slower();
            if (slower.isEmpty()) {
                return;
            }
            withdraw(slower);
        }
        after = whole.measure(records, "after", inCycles);
        Set<String> slower = slower();
        if (!slower.isEmpty()) {
            log.warn("In the whole model, tuned layers are still slower: " + slower);
        }
    }

    /** Operators whose records do not help in the whole model. */
    private Set<String> slower() {
        boolean isLarger = after.workspace() > before.workspace();
        if (!isForSpeed) {
            return isLarger && !isRamSought ? changed() : Set.of();
        }
        Map<String, Long> growth = new HashMap<>();
        keys.forEach((name, key) -> growth.merge(
                key.workload(), after.operators().get(name) - before.operators().get(name), Long::sum));
        Set<String> slower = those(growth, change -> change > 0);
        slower.retainAll(changed());
        boolean isWorse = isLarger || cost(after.sizes()) > cost(before.sizes());
        return slower.isEmpty() && isWorse ? those(growth, change -> change < 0) : slower;
    }

    /** Operators with another configuration than before, whose record is the first of a layer: these alone can be slower by their records. */
    private Set<String> changed() {
        List<TuningRecord> all = RecordFiles.open(records).records();
        HistoryBest best = new HistoryBest(all);
        Map<String, TuningRecord> first = new HashMap<>();
        all.forEach(record -> first.putIfAbsent(record.task().workload(), record));
        return keys.keySet().stream()
                .filter(name -> best.find(keys.get(name))
                        .filter(record -> !record.config()
                                .entities()
                                .equals(first.get(record.task().workload())
                                        .config()
                                        .entities()))
                        .isPresent())
                .collect(Collectors.toSet());
    }

    private long cost(TuneReport.Sizes sizes) {
        return inCycles ? sizes.cycles() : sizes.instructions();
    }

    private Set<String> those(Map<String, Long> growth, LongPredicate isMeant) {
        return keys.keySet().stream()
                .filter(name -> isMeant.test(growth.get(keys.get(name).workload())))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private void withdraw(Set<String> operators) {
        List<TuningRecord> all = new ArrayList<>(RecordFiles.open(records).records());
        HistoryBest best = new HistoryBest(all);
        for (String operator : operators) {
            best.find(keys.get(operator)).ifPresent(record -> {
                Result failed =
                        Result.failed(MeasureError.UNKNOWN, 0, record.result().timestamp());
                all.replaceAll(other ->
                        other.equals(record) ? TuningRecord.of(record.task(), record.config(), failed) : other);
                log.info("Withdrawn, because it does not help in the whole model: index "
                        + record.config().index() + " of " + operator);
            });
        }
        RecordFiles.write(records, all);
    }
}
