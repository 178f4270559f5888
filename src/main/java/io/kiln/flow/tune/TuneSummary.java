// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.Log;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.report.Table;
import io.kiln.report.TuneReport;
import io.kiln.schedule.space.Configuration;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.Objective.Mix;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;

/** Says what a search found. */
record TuneSummary(ResolvedBuild build, TuneSpec tune, Path records, List<TaskSearch> searches) {
    private static final double NANOSECONDS = 1e9;
    private static final double PERCENT = 100;

    /** Smallest change in percent that is shown; smaller ones round to 0. */
    private static final double SHOWN = 0.05;

    /** A change in percent. */
    static String change(double before, double after) {
        return percent(before == 0 ? 0 : PERCENT * (after - before) / before);
    }

    /** A change that is in percent already. */
    static String percent(double percent) {
        return Math.abs(percent) < SHOWN ? "0.0 %" : String.format(Locale.ROOT, "%+.1f %%", percent);
    }

    /** The table, and the sum. */
    void say(Log log, List<TuneReport.Task> tasks, WholeModels.Image before, WholeModels.Image after) {
        Table table = new Table("Layer", "Before", "After", "Gain", "Schedule");
        for (TuneReport.Task task : tasks) {
            Double then = task.before().cost();
            Double now = task.after().cost();
            table.row(
                    task.name(),
                    number(then),
                    number(now),
                    then == null || now == null || then == 0
                            ? ""
                            : String.format(Locale.ROOT, "%.1f%%", PERCENT * (then - now) / then),
                    task.after().schedule().equals(task.before().schedule())
                            ? "as before"
                            : task.after().schedule());
        }
        table.lines().forEach(log::answer);
        long wrong = searches.stream().mapToLong(TaskSearch::wrong).sum();
        if (wrong > 0) {
            log.warn(wrong + " configurations gave wrong answers; they have error 5 and are never chosen");
        }
        log.answer(String.format(
                Locale.ROOT,
                "One inference: %,d instructions in place of %,d (%s)%s, RAM %,d in place of %,d, flash %,d in place"
                        + " of %,d bytes",
                after.sizes().instructions(),
                before.sizes().instructions(),
                change((double) before.sizes().instructions(), (double)
                        after.sizes().instructions()),
                cycles(before.sizes(), after.sizes()),
                after.sizes().ram(),
                before.sizes().ram(),
                after.sizes().flash(),
                before.sizes().flash()));
    }

    /** A cost as text: those of a mix are about as large as its weights, others are counts. */
    private String number(Double cost) {
        String format = tune.objective() instanceof Mix ? "%.3f" : "%,.0f";
        return cost == null ? "" : String.format(Locale.ROOT, format, cost);
    }

    private static String cycles(TuneReport.Sizes before, TuneReport.Sizes after) {
        return before.cycles() == null || after.cycles() == null
                ? ""
                : String.format(
                        Locale.ROOT,
                        ", %,d estimated cycles in place of %,d (%s)",
                        after.cycles(),
                        before.cycles(),
                        change((double) before.cycles(), (double) after.cycles()));
    }

    TuneReport report(List<TuneReport.Task> tasks, WholeModels.Image before, WholeModels.Image after) {
        return new TuneReport(
                build.board().id(),
                build.target(),
                tune.objective().text(),
                tune.tuner().name().toLowerCase(Locale.ROOT),
                tune.seed(),
                build.spec().layout().project().relativize(records).toString().replace('\\', '/'),
                tasks,
                new TuneReport.Whole(before.sizes(), after.sizes()));
    }

    /** The tasks with the records that were not withdrawn. */
    List<TuneReport.Task> tasks() {
        HistoryBest best = new HistoryBest(RecordFiles.open(records).records());
        List<TuneReport.Task> tasks = new ArrayList<>();
        for (TaskSearch search : searches) {
            LayerTask task = search.task();
            Optional<TuningRecord> winner = best.find(task.key());
            Configuration chosen =
                    winner.flatMap(record -> task.space().find(record.config())).orElse(task.rule());
            tasks.add(new TuneReport.Task(
                    task.title(),
                    task.key().template(),
                    search.eligible(),
                    search.wrong(),
                    new TuneReport.Choice(task.rule().text(), nanoseconds(search.before())),
                    new TuneReport.Choice(
                            chosen.text(),
                            winner.map(record -> record.result().mean() * NANOSECONDS)
                                    .orElse(nanoseconds(search.before()))),
                    search.costs().stream()
                            .map(cost -> cost.isNaN() ? null : cost * NANOSECONDS)
                            .toList()));
        }
        return tasks;
    }

    private static Double nanoseconds(OptionalDouble cost) {
        return cost.isPresent() ? cost.getAsDouble() * NANOSECONDS : null;
    }
}
