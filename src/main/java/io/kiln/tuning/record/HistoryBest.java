// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The best record of each workload on each target: AutoTVM's {@code ApplyHistoryBest}. The smallest mean cost is the best, the earlier of two
 * equal ones; failed measurements do not count.
 */
public final class HistoryBest {
    /** Nothing was measured. */
    public static final HistoryBest NONE = new HistoryBest(List.of());

    private final Map<String, TuningRecord> byModel = new LinkedHashMap<>();
    private final Map<String, TuningRecord> byKey = new LinkedHashMap<>();

    public HistoryBest(Collection<TuningRecord> records) {
        for (TuningRecord record : records) {
            if (record.result().isMeasured()) {
                record.task().model().ifPresent(model -> keep(byModel, model, record));
                record.task().keys().forEach(key -> keep(byKey, key, record));
            }
        }
    }

    private static void keep(Map<String, TuningRecord> best, String target, TuningRecord record) {
        best.merge(
                key(target, record.task()),
                record,
                (old, now) -> old.result().mean() > now.result().mean() ? now : old);
    }

    private static String key(String target, TaskKey task) {
        return target + "\n" + task.workload();
    }

    /** The best records, some of them twice. */
    public Stream<TuningRecord> records() {
        return Stream.concat(byModel.values().stream(), byKey.values().stream());
    }

    /** Whether there is no record to choose from. */
    public boolean isEmpty() {
        return byModel.isEmpty() && byKey.isEmpty();
    }

    /** The best record of a task: measured on the target's model, or else with one of its keys, the first first. */
    public Optional<TuningRecord> find(TaskKey task) {
        Stream<Optional<TuningRecord>> keys =
                task.keys().stream().map(key -> Optional.ofNullable(byKey.get(key(key, task))));
        return task.model()
                .map(model -> byModel.get(key(model, task)))
                .or(() -> keys.flatMap(Optional::stream).findFirst());
    }

    /** The records of a log that are the best for a model or a key, in their order: AutoTVM's {@code pick_best}. */
    public static List<TuningRecord> pick(List<TuningRecord> records) {
        HistoryBest best = new HistoryBest(records);
        IdentityHashMap<TuningRecord, Boolean> winners = new IdentityHashMap<>();
        best.records().forEach(record -> winners.put(record, true));
        return records.stream().filter(winners::containsKey).toList();
    }
}
