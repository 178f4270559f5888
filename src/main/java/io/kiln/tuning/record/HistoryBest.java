// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.record.TuningRecord.TaskKey;
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
    /** The best records of no measurement: none. */
    public static final HistoryBest NONE = new HistoryBest(List.of());

    private final Map<Place, Best> byModel = new LinkedHashMap<>();
    private final Map<Place, Best> byKey = new LinkedHashMap<>();

    public HistoryBest(Collection<TuningRecord> records) {
        for (TuningRecord record : records) {
            Result result = record.result();
            if (result.isMeasured()) {
                TaskKey task = record.task();
                Best best = new Best(record, result.mean());
                String workload = task.workload();
                task.model().ifPresent(model -> keep(byModel, new Place(model, workload), best));
                task.keys().forEach(key -> keep(byKey, new Place(key, workload), best));
            }
        }
    }

    /** The place of a record: a workload on a target's model, or on one of the target's keys. */
    private record Place(String target, String workload) {}

    private record Best(TuningRecord record, double mean) {}

    private static void keep(Map<Place, Best> best, Place place, Best candidate) {
        best.merge(place, candidate, (old, now) -> old.mean() > now.mean() ? now : old);
    }

    /** The best records of all places; a record that is the best of several occurs several times. */
    public Stream<TuningRecord> records() {
        return Stream.concat(byModel.values().stream(), byKey.values().stream()).map(Best::record);
    }

    /** Whether there is no record to choose from. */
    public boolean isEmpty() {
        return byModel.isEmpty() && byKey.isEmpty();
    }

    /** The best record of a task: measured on the target's model, or else with one of its keys, the first first. */
    public Optional<TuningRecord> find(TaskKey task) {
        String workload = task.workload();
        Optional<Best> ofModel = task.model().map(model -> byModel.get(new Place(model, workload)));
        return ofModel.or(() -> task.keys().stream()
                        .flatMap(key -> Optional.ofNullable(byKey.get(new Place(key, workload))).stream())
                        .findFirst())
                .map(Best::record);
    }

    /** The records of a log that are the best for a model or a key, in their order: AutoTVM's {@code pick_best}. */
    public static List<TuningRecord> pick(List<TuningRecord> records) {
        HistoryBest best = new HistoryBest(records);
        IdentityHashMap<TuningRecord, Boolean> winners = new IdentityHashMap<>();
        best.records().forEach(record -> winners.put(record, true));
        return records.stream().filter(winners::containsKey).toList();
    }
}
