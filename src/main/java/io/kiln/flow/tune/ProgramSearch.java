// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.JvmEnd;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.compile.CompiledModel;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.tune.WholeModels.Image;
import io.kiln.report.Table;
import io.kiln.report.TuneReport;
import io.kiln.report.TuneReport.Sizes;
import io.kiln.schedule.space.Configuration;
import io.kiln.stream.PlanChoice;
import io.kiln.stream.Program.PlannedProgram;
import io.kiln.stream.StreamPlanner;
import io.kiln.stream.StreamPlanner.Planned;
import io.kiln.target.Target;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.Objective.Mix;
import io.kiln.tuning.task.ProgramTask;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Searches how whole models are planned: the order of their operators, and which of them run interleaved with how many rows in a call. A plan is
 * measured as an image of its own, with the records that layers have by then, and its answers are verified. Plans that need a larger workspace than
 * the usual one are not tried, unless RAM is part of the objective.
 */
final class ProgramSearch {
    private static final double NANOSECONDS = 1e9;

    private final Log log;
    private final ResolvedBuild build;
    private final TuneSpec tune;
    private final Path records;
    private final WholeModels whole;
    private final SearchBudget budget;
    private final Path trial;
    private final ImageCost cost;
    private final List<TuneReport.Task> tasks = new ArrayList<>();

    /**
     * @param records the log, with what was found for layers
     * @param trial folder for logs with a plan on trial
     * @param budget after which no more plans are tried
     */
    ProgramSearch(Log log, ResolvedBuild build, TuneSpec tune, Path records, Path trial, SearchBudget budget) {
        this.log = log;
        this.build = build;
        this.tune = tune;
        this.records = records;
        this.whole = new WholeModels(build, trial, tune.objective());
        this.budget = budget;
        this.trial = trial;
        this.cost = new ImageCost(tune.objective());
    }

    private record Program(ProgramTask task, TaskKey key, PlanChoice usual, List<PlanChoice> others) {}

    /**
     * Searches for one model after another.
     *
     * @param usual the image without records of plans
     * @return the image with what won
     */
    Image run(Image usual) {
        boolean isMeasurable =
                cost.isMeasured() && (!cost.inCycles() || usual.sizes().cycles() != null);
        Image best = usual;
        if (isMeasurable && tune.limits().trials() > 0) {
            for (ModelSource model : build.spec().models()) {
                Optional<Program> program = ModelArchives.accepts(model.file()) ? Optional.empty() : program(model);
                if (program.isPresent()) {
                    best = search(program.get(), best);
                }
            }
        }
        return best;
    }

    /** What was searched, for the report. */
    List<TuneReport.Task> tasks() {
        return List.copyOf(tasks);
    }

    /** A model with its plans; empty if there is nothing to choose from. */
    private Optional<Program> program(ModelSource source) {
        BuildSpec spec = build.spec();
        CompiledModel model = GenerateStep.compile(build, source, spec.calls().io(), spec.optimize());
        Optional<Planned> planned = model.program();
        if (planned.isEmpty()) {
            return Optional.empty();
        }
        PlannedProgram now = model.module().planned();
        Map<PlanChoice, PlannedProgram> plans = StreamPlanner.plans(planned.get());
        boolean isRamSought = tune.objective().metrics().contains(Metric.RAM);
        Optional<PlanChoice> usual = plans.entrySet().stream()
                .filter(plan -> plan.getValue().runsAs(now))
                .map(Map.Entry::getKey)
                .findFirst();
        List<PlanChoice> others = plans.entrySet().stream()
                .filter(plan -> !plan.getValue().runsAs(now))
                .filter(plan -> isRamSought || bytes(plan.getValue()) <= bytes(now))
                .map(Map.Entry::getKey)
                .toList();
        ProgramTask task = new ProgramTask(
                planned.get().function(),
                Target.parse(build.target()),
                spec.optimize(),
                spec.calls().io());
        return usual.filter(choice -> !others.isEmpty())
                .map(choice -> new Program(task, task.key(tune.objective()), choice, others));
    }

    private static long bytes(PlannedProgram plan) {
        return plan.layout().plan().bytes();
    }

    private Image search(Program program, Image usual) {
        Map<PlanChoice, TuningRecord> known = known(program);
        Map<PlanChoice, Double> costs = new LinkedHashMap<>();
        keep(program, program.usual(), Optional.of(cost(usual, usual)), known, costs);
        long measured = 1 + program.others().stream().filter(known::containsKey).count();
        for (PlanChoice choice : program.others()) {
            if (known.containsKey(choice)) {
                keep(program, choice, Optional.empty(), known, costs);
            } else if (measured < tune.limits().trials() && budget.allowsTrial()) {
                measured++;
                Optional<Image> image = image(program, choice);
                keep(program, choice, image.map(each -> cost(each, usual)), known, costs);
                log.info(ProgramTask.text(choice) + " of " + program.task().title() + ": "
                        + image.map(each -> TuneSummary.change(cost(usual, usual), cost(each, usual)))
                                .orElse("it failed"));
            }
        }
        return finish(program, costs, usual);
    }

    private Map<PlanChoice, TuningRecord> known(Program program) {
        Map<PlanChoice, TuningRecord> known = new LinkedHashMap<>();
        RecordFiles.open(records).records().stream()
                .filter(record -> record.task().target().equals(program.key().target())
                        && record.task().workload().equals(program.key().workload()))
                .forEach(record -> ProgramTask.choice(record.config()).ifPresent(choice -> known.put(choice, record)));
        return known;
    }

    /** Adds a measurement to the log, unless it is there. */
    private void keep(
            Program program,
            PlanChoice choice,
            Optional<Double> cost,
            Map<PlanChoice, TuningRecord> known,
            Map<PlanChoice, Double> costs) {
        TuningRecord record = known.get(choice);
        if (record == null) {
            double time = budget.now().toEpochMilli() / 1000.0;
            Result result = cost.map(value -> new Result(List.of(value / NANOSECONDS), MeasureError.NONE, 0, time))
                    .orElseGet(() -> Result.failed(MeasureError.WRONG_ANSWER, 0, time));
            record = TuningRecord.of(program.key(), ProgramTask.config(choice), result);
            RecordFiles.append(records, List.of(record));
        }
        costs.put(choice, record.result().isMeasured() ? record.result().mean() * NANOSECONDS : null);
    }

    /** The image of a plan; empty if it cannot be built, or answers wrong. */
    private Optional<Image> image(Program program, PlanChoice choice) {
        List<TuningRecord> on = new ArrayList<>(RecordFiles.open(records).records());
        Result chosen = new Result(List.of(0.0), MeasureError.NONE, 0, 0);
        on.add(TuningRecord.of(program.key(), ProgramTask.config(choice), chosen));
        Path file = trial.resolve("trial.log");
        RecordFiles.write(file, on);
        try {
            return Optional.of(whole.verified(file, "trial", cost.inCycles()));
        } catch (KilnException e) {
            if (JvmEnd.isNear()) {
                throw e;
            }
            log.debug(e.getMessage());
            return Optional.empty();
        }
    }

    private double cost(Image image, Image usual) {
        return cost.of(image.sizes(), usual.sizes());
    }

    private Image finish(Program program, Map<PlanChoice, Double> costs, Image usual) {
        Optional<TuningRecord> winner =
                new HistoryBest(RecordFiles.open(records).records()).find(program.key());
        PlanChoice chosen =
                winner.flatMap(record -> ProgramTask.choice(record.config())).orElse(program.usual());
        tasks.add(new TuneReport.Task(
                program.task().title(),
                program.key().template(),
                costs.size(),
                costs.values().stream().filter(cost -> cost == null).count(),
                new TuneReport.Choice(ProgramTask.text(program.usual()), costs.get(program.usual())),
                new TuneReport.Choice(ProgramTask.text(chosen), costs.get(chosen)),
                new ArrayList<>(costs.values())));
        if (chosen.equals(program.usual())) {
            return usual;
        }
        if (!budget.allowsImage()) {
            withdraw(winner.orElseThrow());
            return usual;
        }
        Image planned = whole.measure(records, "planned", cost.inCycles());
        if (cost(planned, usual) <= cost(usual, usual)) {
            return planned;
        }
        withdraw(winner.orElseThrow());
        return usual;
    }

    /** Withdraws a record that was measured with other records of layers. */
    private void withdraw(TuningRecord record) {
        List<TuningRecord> all = new ArrayList<>(RecordFiles.open(records).records());
        Result failed = Result.failed(MeasureError.UNKNOWN, 0, record.result().timestamp());
        all.replaceAll(other -> other.equals(record) ? TuningRecord.of(record.task(), record.config(), failed) : other);
        RecordFiles.write(records, all);
        log.info("Withdrawn, because it no longer helps: "
                + ProgramTask.text(ProgramTask.choice(record.config()).orElseThrow()));
    }

    /**
     * The cost of a whole image by the objective of a search.
     *
     * @param objective of the search
     */
    record ImageCost(Objective objective) {
        boolean inCycles() {
            return objective.metrics().contains(Metric.CYCLES)
                    || objective.metrics().contains(Metric.BOARD_CYCLES);
        }

        /** Whether an emulator tells the cost: it does not know a board's time. */
        boolean isMeasured() {
            return !objective.metrics().contains(Metric.TIME);
        }

        /** Whether the cost is the sum of the operators' own. */
        boolean isOfOperators() {
            return objective == Metric.INSTRUCTIONS || objective == Metric.CYCLES || objective == Metric.BOARD_CYCLES;
        }

        /**
         * The cost of an image.
         *
         * @param usual the image to which a mix of quantities is relative
         */
        double of(Sizes image, Sizes usual) {
            if (objective instanceof Mix mix) {
                return mix.weights().entrySet().stream()
                        .mapToDouble(part -> part.getValue()
                                * (quantity(image, part.getKey()) + 1)
                                / (quantity(usual, part.getKey()) + 1))
                        .sum();
            }
            return quantity(image, (Metric) objective);
        }

        private static double quantity(Sizes sizes, Metric metric) {
            return switch (metric) {
                case CYCLES, BOARD_CYCLES -> sizes.cycles();
                case SIZE -> sizes.flash();
                case RAM -> sizes.ram();
                default -> sizes.instructions();
            };
        }
    }

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
                    build.spec()
                            .layout()
                            .project()
                            .relativize(records)
                            .toString()
                            .replace('\\', '/'),
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
                Configuration chosen = winner.flatMap(record -> task.space().find(record.config()))
                        .orElse(task.rule());
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

    /**
     * The time that a search may take, from its making on. Nothing is begun that is not expected to end in time, and what the comparison of the whole
     * models takes at the end is set aside.
     */
    static final class SearchBudget {
        /** Images of the whole models that are measured at the end: one with all records, one without those that were withdrawn. */
        private static final int IMAGES_AT_THE_END = 2;

        /** The factor by which something may take longer the next time. */
        private static final double SPARE = 1.3;

        private final Clock clock;
        private final Duration limit;
        private final Instant began;
        private double image;
        private final List<Round> rounds = new ArrayList<>();

        private record Round(int candidates, double seconds) {}

        /** What a round takes: a share for the image, and one for each candidate in it. */
        private record Rate(double image, double each) {
            double seconds(int candidates) {
                return candidates == 0 ? 0 : image + candidates * each;
            }
        }

        /** @param limit zero for no limit */
        SearchBudget(Clock clock, Duration limit) {
            this.clock = clock;
            this.limit = limit;
            this.began = clock.instant();
        }

        Instant now() {
            return clock.instant();
        }

        private boolean isLimited() {
            return !limit.isZero();
        }

        /** Seconds until the end, not below 0. */
        private double left() {
            return Math.max(0, seconds(limit.minus(Duration.between(began, now()))));
        }

        /** Notes what it took to build and measure an image of the whole models. */
        void imageTook(Duration time) {
            image = seconds(time);
        }

        /** Notes what a round took. */
        void took(int candidates, Duration time) {
            rounds.add(new Round(candidates, seconds(time)));
        }

        /** The time that rounds take, by the smallest and the largest one; of a single one half is the image's. */
        private Rate rate() {
            Round least = Collections.min(rounds, Comparator.comparingInt(Round::candidates));
            Round most = Collections.max(rounds, Comparator.comparingInt(Round::candidates));
            double slope = (most.seconds - least.seconds) / (most.candidates - least.candidates);
            double each = slope > 0 && Double.isFinite(slope) ? slope : most.seconds / most.candidates / 2;
            return new Rate(Math.max(0, most.seconds - each * most.candidates), each);
        }

        /** Whether another image of the whole models ends in time. */
        boolean allowsImage() {
            return !isLimited() || SPARE * image <= left();
        }

        /** Whether another image ends in time, with the images at the end after it. */
        boolean allowsTrial() {
            return !isLimited() || SPARE * 2 * image <= left();
        }

        /**
         * The most candidates of the next round.
         *
         * @param most without a limit of time
         * @return 0 if there is time for the images at the end only
         */
        int candidates(int most) {
            if (!isLimited()) {
                return most;
            }
            double free = left() - SPARE * IMAGES_AT_THE_END * image;
            if (free <= 0) {
                return 0;
            }
            if (rounds.isEmpty()) {
                return most;
            }
            Rate rate = rate();
            return (int) Math.max(0, Math.min(most, (free / SPARE - rate.image) / rate.each));
        }

        /** Seconds that are expected until the end of the search. */
        long rest(int candidates) {
            double rest = (rounds.isEmpty() ? 0 : rate().seconds(candidates)) + IMAGES_AT_THE_END * image;
            return Math.round(isLimited() ? Math.min(rest, left()) : rest);
        }

        private static double seconds(Duration time) {
            return time.toMillis() / 1000.0;
        }
    }
}
