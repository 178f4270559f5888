// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.task;

import io.kiln.base.Optimize;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Rows;
import io.kiln.schedule.LayerChoices;
import io.kiln.schedule.LayerSchedules;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Workload;
import io.kiln.stream.PlanChoice;
import io.kiln.target.Target;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import io.kiln.tuning.task.Objective.Mix;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Chooses schedules by the best records. A record whose configuration is no longer in the layer's space is left alone, as are layers without
 * a record: the rules choose for them. Records of other templates, such as TVM's own, match no layer. Not thread-safe.
 */
public final class RecordedChoices implements LayerChoices {
    private final HistoryBest best;
    private final Target target;
    private final Optimize optimize;
    private final List<Objective> mixes;
    private final Map<String, String> unfit = new TreeMap<>();

    /**
     * Follows the records of the objectives that fit what the build optimizes for.
     *
     * @param best the records
     * @param target the target of the build
     */
    public RecordedChoices(HistoryBest best, Target target, Optimize optimize) {
        this.best = best;
        this.target = target;
        this.optimize = optimize;
        this.mixes = mixes(best);
    }

    private List<Objective> objectives(Optimize followed) {
        return Stream.concat(mixes.stream(), Objective.followed(followed).stream())
                .toList();
    }

    /** The mixes that records were made for. They come before single metrics, because somebody searched for them on purpose. */
    private static List<Objective> mixes(HistoryBest best) {
        return best.records()
                .filter(record -> record.task().template().startsWith(TaskKeys.PREFIX))
                .map(record -> TaskKeys.objective(record.task()))
                .distinct()
                .flatMap(objective -> Objective.find(objective).stream())
                .filter(Mix.class::isInstance)
                .toList();
    }

    @Override
    public Optional<Choice<?>> choose(FusedOperator op, Workload workload) {
        if (best.isEmpty()) {
            return Optional.empty();
        }
        for (Objective objective : objectives(workload.optimize())) {
            TaskKey key = TaskKeys.of(op, workload.conv(), target, workload.optimize(), objective);
            Optional<TuningRecord> record = best.find(key);
            if (record.isPresent()) {
                return choice(op, workload, objective, record.get());
            }
        }
        return Optional.empty();
    }

    private Optional<Choice<?>> choice(FusedOperator op, Workload workload, Objective objective, TuningRecord record) {
        Optional<Configuration> configuration = TaskSpace.of(workload).find(record.config());
        boolean isWhole = workload.rows().equals(Rows.whole(op.type().shape()));
        // Records of cores with code of any size are left alone where code must fit a cache; nobody has to know.
        if (configuration.isEmpty() && isWhole && workload.codeBytes().isEmpty()) {
            unfit.put(
                    op.name(),
                    "the record of " + op.name() + " no longer fits: index "
                            + record.config().index() + " of " + record.task().template());
        }
        return configuration.flatMap(c -> LayerSchedules.choice(workload, c, reason(objective, record)));
    }

    /** How the record of a whole model plans it; empty without one. */
    public Optional<PlanChoice> plan(ProgramTask task) {
        if (best.isEmpty()) {
            return Optional.empty();
        }
        Optional<TuningRecord> record = objectives(optimize).stream()
                .flatMap(objective -> best.find(task.key(objective)).stream())
                .findFirst();
        Optional<PlanChoice> choice = record.flatMap(found -> ProgramTask.choice(found.config()));
        if (record.isPresent() && choice.isEmpty()) {
            unfitPlan(task);
        }
        return choice;
    }

    /** Notes that a model could not be planned as its record says. */
    public void unfitPlan(ProgramTask task) {
        unfit.put(task.title(), "the record of " + task.title() + " no longer fits");
    }

    private static String reason(Objective objective, TuningRecord record) {
        return "record: the best that was measured, "
                + objective.cost(record.result().mean());
    }

    /** The records that were found for a layer but do not fit it, one line each. */
    public List<String> unfit() {
        return List.copyOf(unfit.values());
    }

    /** Warns of records whose templates do not exist in Kiln, such as TVM's own. */
    public static final class ForeignRecords {
        private static final int NAMED = 3;

        private ForeignRecords() {}

        /**
         * The warning for the user; empty if all templates are Kiln's.
         *
         * @param log file of the records
         */
        public static Optional<String> said(List<TuningRecord> records, Path log) {
            return said(records, log.toString());
        }

        /** As {@link #said(List, Path)} of records that are not in a file of their own. */
        public static Optional<String> said(List<TuningRecord> records, String where) {
            List<String> templates = records.stream()
                    .map(TuningRecord::task)
                    .map(TaskKey::template)
                    .filter(template -> !template.startsWith(TaskKeys.PREFIX))
                    .toList();
            if (templates.isEmpty()) {
                return Optional.empty();
            }
            List<String> kinds = templates.stream().distinct().toList();
            String named = String.join(", ", kinds.subList(0, Math.min(NAMED, kinds.size())));
            return Optional.of(String.format(
                    Locale.ROOT,
                    "%d of the %d records in %s choose nothing, because their templates do not exist in Kiln: %s%s",
                    templates.size(),
                    records.size(),
                    where,
                    named,
                    kinds.size() > NAMED ? " and " + (kinds.size() - NAMED) + " more" : ""));
        }
    }
}
