// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.Failure;
import io.kiln.base.JvmEnd;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.Parallel;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompiledModel;
import io.kiln.cycles.core.CoreTables;
import io.kiln.cycles.core.CoreTimings;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.FunctionCounter.CallsCounter;
import io.kiln.flow.build.BoardRecords;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.farm.FarmRuns;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.spec.TuneSpec.RecordsSpec;
import io.kiln.flow.tune.CandidateMeasurer.BoardRunner;
import io.kiln.flow.tune.CandidateMeasurer.Candidate;
import io.kiln.flow.tune.CandidateMeasurer.CandidateRunner;
import io.kiln.flow.tune.CandidateMeasurer.EmulatorRunner;
import io.kiln.flow.tune.CandidateMeasurer.EmulatorRunner.FlashWaits;
import io.kiln.flow.tune.CandidateMeasurer.Measured;
import io.kiln.flow.tune.ProgramSearch.SearchBudget;
import io.kiln.flow.tune.ProgramSearch.TuneSummary;
import io.kiln.flow.tune.TaskSearch.Confirmation;
import io.kiln.ir.Function;
import io.kiln.pages.JtetuneGenerated;
import io.kiln.report.Json;
import io.kiln.report.TuneReport;
import io.kiln.report.page.Page;
import io.kiln.schedule.LayerChoices;
import io.kiln.target.Target;
import io.kiln.target.TargetKind;
import io.kiln.toolchain.board.Board;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.RecordedChoices;
import io.kiln.tuning.task.RecordedChoices.ForeignRecords;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Searches better configurations for the layers of the build's models. Records are added to the log as soon as they are measured, so that an
 * interrupted search loses little, and the next one continues. At the end the whole models are built with and without
 * the records: those that do not help there are withdrawn.
 */
public final class TuneStep {
    /** Candidates of one task in a round: the tuners learn between rounds. */
    private static final int OF_A_TASK = 16;

    private static final int OF_A_ROUND = 256;

    /** Images that a farm measures at once. */
    private static final int IMAGES_AT_ONCE = 4;

    private static final String PARAMETER = "kiln.tune.objective";

    private final Log log;
    private final ResolvedBuild build;
    private final TuneSpec tune;
    private final Optional<DeviceSpec> device;
    private final SearchBudget budget;
    private final Optional<Proposal> proposal;
    private final Path records;
    private final Path folder;

    /**
     * A search at the times of this computer.
     *
     * @param device the board that measures; empty for an emulator
     */
    public TuneStep(Log log, ResolvedBuild build, TuneSpec tune, Optional<DeviceSpec> device) {
        this(log, build, tune, device, Clock.systemUTC());
    }

    /** @param clock the times of records, and of the search's budget */
    TuneStep(Log log, ResolvedBuild build, TuneSpec tune, Optional<DeviceSpec> device, Clock clock) {
        this.log = log;
        this.tune = tune.with(tune.asked().orElseGet(() -> usual(build, device.isPresent())));
        ResolvedBuild followed = following(build, this.tune.objective());
        this.proposal = tune.propose().map(file -> Proposal.begin(log, followed, file, this.tune.objective()));
        this.build = proposal.map(Proposal::build).orElse(followed);
        this.device = device;
        this.budget = new SearchBudget(clock, tune.budget());
        this.records = BoardRecords.log(this.build.spec());
        this.folder = build.spec().layout().reports().resolve("tune");
    }

    /** What builds of the board follow first, if it can be measured: a farm does not tell the order of what is executed, nor a board anything but time. */
    private static Metric usual(ResolvedBuild build, boolean isOnBoard) {
        Metric usual = TuneSpec.usual(build.spec().optimize(), BoardRecords.isTimed(build), isOnBoard);
        boolean hasWaits =
                FlashWaits.areKnown(build.board()) && build.spec().farm().isEmpty();
        return usual == Metric.CYCLES && hasWaits ? Metric.BOARD_CYCLES : usual;
    }

    /** The build that follows what is searched, whatever the project's own builds follow. */
    private static ResolvedBuild following(ResolvedBuild build, Objective objective) {
        RecordsSpec records = build.spec().compiler().records();
        RecordsSpec followed = new RecordsSpec(records.own(), records.shared(), objective == Metric.INSTRUCTIONS);
        BuildSpec spec = build.spec().with(build.spec().compiler().with(followed));
        return build.with(spec, build.runsOn());
    }

    /** Searches, then says what was found. */
    public void run() {
        Target target = Target.parse(build.target());
        if (target.kind() != TargetKind.C) {
            throw Failure.TUNE.exception(
                    "only C can be tuned",
                    "target `" + build.target() + "`",
                    "a target of kind c",
                    "Tune with kiln.target=c");
        }
        requireFollowed(tune.objective(), build.spec().optimize());
        List<TuningRecord> known = takeOver();
        if (tune.limits().trials() > 0) {
            search(target, known);
        } else {
            log.info("Nothing is measured, because kiln.tune.trials is 0");
        }
        if (tune.pickBest()) {
            pickBest();
        }
    }

    private void search(Target target, List<TuningRecord> known) {
        List<CompiledModel> models = models();
        Map<String, LayerTask> tasks = new LinkedHashMap<>();
        LayerChoices given = new RecordedChoices(
                BoardRecords.given(build), target, build.spec().optimize());
        for (CompiledModel model : models) {
            LayerTask.of(fused(model), target, build.spec().optimize(), tune.objective(), given)
                    .forEach(task -> tasks.putIfAbsent(task.key().workload(), task));
        }
        List<TaskSearch> searches = tasks.values().stream()
                .map(task -> new TaskSearch(task, tune, known))
                .toList();
        log.info(searches.size() + " layers to tune with "
                + searches.stream().mapToInt(TaskSearch::size).sum() + " configurations, records in " + records);
        if (models.isEmpty()) {
            return;
        }
        WholeModels whole = new WholeModels(build, folder, tune.objective());
        try {
            Confirmation confirmation = new Confirmation(log, whole, records, models, build, tune.objective(), budget);
            if (!searches.isEmpty()) {
                search(searches, models.get(0), new SearchProgress(log, searches, confirmation, budget));
            }
            finish(searches, confirmation);
            proposal.ifPresent(found ->
                    found.settle(models, searches.stream().map(TaskSearch::task).toList(), tune.objective(), folder));
        } finally {
            WholeFiles.clear(folder);
        }
        if (searches.stream().anyMatch(search -> !search.isFinished())) {
            log.info("The budget of " + tune.budget().toSeconds()
                    + " s is used up before all configurations were measured");
        }
    }

    private void pickBest() {
        List<TuningRecord> best = HistoryBest.pick(RecordFiles.open(records).records());
        RecordFiles.write(records, best);
        log.info("Kept the best " + best.size() + " records in " + records);
    }

    /** The records of the log, after those of other logs were added to it. */
    private List<TuningRecord> takeOver() {
        RecordReader.Log own = RecordFiles.open(records);
        own.warnings().forEach(log::warn);
        ForeignRecords.said(own.records(), records).ifPresent(log::info);
        List<List<TuningRecord>> logs = new ArrayList<>(List.of(own.records()));
        for (Path other : tune.merge()) {
            RecordReader.Log read = RecordReader.read(other);
            read.warnings().forEach(log::warn);
            ForeignRecords.said(read.records(), other).ifPresent(log::info);
            logs.add(read.records());
        }
        List<TuningRecord> all = RecordFiles.merge(logs);
        if (logs.size() > 1) {
            RecordFiles.write(records, all);
            log.info("Merged " + tune.merge().size() + " logs: " + all.size() + " records in " + records);
        }
        return all;
    }

    private List<CompiledModel> models() {
        BuildSpec spec = build.spec();
        return spec.models().stream()
                .filter(model -> !ModelArchives.accepts(model.file()))
                .map(model -> GenerateStep.compile(build, model, spec.calls().io(), spec.optimize()))
                .toList();
    }

    private static Function fused(CompiledModel model) {
        return model.stages().get(model.stages().size() - 1).function();
    }

    private void search(List<TaskSearch> searches, CompiledModel model, SearchProgress progress) {
        Optional<FarmUse> use = build.spec().farm();
        if (use.isEmpty()) {
            search(searches, new ImagesAtOnce(List.of(measurer(model))), progress);
            return;
        }
        try (FarmRuns farm = FarmRuns.open(use.get(), log)) {
            List<CandidateMeasurer> measurers = new ArrayList<>();
            for (int i = 0; i < IMAGES_AT_ONCE; i++) {
                measurers.add(measurer(model, runner(farm), measuring(), folder.resolve("candidates-" + i)));
            }
            search(searches, new ImagesAtOnce(measurers), progress);
        }
    }

    private void search(List<TaskSearch> searches, ImagesAtOnce measurer, SearchProgress progress) {
        requireMeasured(tune.objective(), measurer.metrics(), device.isPresent());
        for (List<Candidate> candidates = round(searches); !candidates.isEmpty(); candidates = round(searches)) {
            Instant begun = budget.now();
            List<Measured> measured = measurer.measure(candidates);
            if (measured.stream().anyMatch(one -> !one.isRight()) && JvmEnd.isNear()) {
                throw Failure.COMPUTER.exception("the search was interrupted", records.toString(), "", "Run it again");
            }
            Map<LayerTask, TaskSearch> byTask = new LinkedHashMap<>();
            searches.forEach(search -> byTask.put(search.task(), search));
            List<TuningRecord> found = new ArrayList<>();
            for (int i = 0; i < measured.size(); i++) {
                Candidate candidate = candidates.get(i);
                byTask.get(candidate.task())
                        .update(candidate.configuration(), measured.get(i), budget.now())
                        .ifPresent(found::add);
            }
            RecordFiles.append(records, found);
            budget.took(candidates.size(), Duration.between(begun, budget.now()));
            progress.say();
        }
    }

    private CandidateRunner runner(FarmRuns farm) {
        return device.<CandidateRunner>map(board -> BoardRunner.of(farm, build, board, tune.timeout()))
                .orElseGet(
                        () -> new EmulatorRunner(farm.calls(measuring(), tune.timeout()), timings(), Optional.empty()));
    }

    /** The board that images are linked for. */
    private Board measuring() {
        return device.isPresent() ? build.board() : build.requireRunsOn();
    }

    private CandidateMeasurer measurer(CompiledModel model) {
        Path images = folder.resolve("candidates");
        Path console = build.spec().layout().reports().resolve("tune.log");
        CandidateRunner runner = device.<CandidateRunner>map(
                        board -> BoardRunner.here(build, board, tune.timeout(), console))
                .orElseGet(() -> emulator(measuring(), images));
        return measurer(model, runner, measuring(), images);
    }

    private CandidateMeasurer measurer(CompiledModel model, CandidateRunner runner, Board board, Path images) {
        return new CandidateMeasurer(build, runner, board, model.library().metadata(), images, tune.seed());
    }

    private CandidateRunner emulator(Board board, Path images) {
        Emulator emulator = new Emulator(
                board,
                tune.timeout(),
                Optional.of(images.resolve("emulator.log")),
                build.spec().semihosting());
        return new EmulatorRunner(CallsCounter.in(emulator), timings(), waits());
    }

    /** Timings of the board's core; empty if cycles are not asked for. */
    private Optional<CoreTimings> timings() {
        Set<Metric> metrics = tune.objective().metrics();
        boolean needsCycles = metrics.contains(Metric.CYCLES) || metrics.contains(Metric.BOARD_CYCLES);
        return needsCycles ? CoreTables.find(build.toolchain().cpu()) : Optional.empty();
    }

    /** Waits of the board's flash; empty if they are not asked for. */
    private Optional<FlashWaits> waits() {
        return tune.objective().metrics().contains(Metric.BOARD_CYCLES)
                ? FlashWaits.of(build.board(), build.requireRunsOn())
                : Optional.empty();
    }

    private List<Candidate> round(List<TaskSearch> searches) {
        List<Candidate> candidates = new ArrayList<>();
        int ofARound = budget.candidates(OF_A_ROUND);
        int unfinished =
                (int) searches.stream().filter(search -> !search.isFinished()).count();
        int ofATask = Math.min(OF_A_TASK, Math.max(1, ofARound / Math.max(1, unfinished)));
        for (TaskSearch search : searches) {
            int most = Math.min(ofATask, ofARound - candidates.size());
            if (most > 0) {
                candidates.addAll(search.next(most));
            }
        }
        return candidates;
    }

    private void finish(List<TaskSearch> searches, Confirmation confirmation) {
        WholeModels.Image confirmed =
                confirmation.run(searches.stream().map(TaskSearch::task).toList());
        ProgramSearch programs = new ProgramSearch(log, build, tune, records, folder.resolve("programs"), budget);
        WholeModels.Image planned = programs.run(confirmed);
        Path reports = build.spec().layout().reports();
        WholeModels.Image after = confirmation.settle(planned, reports.resolve("tune-measured.log"));
        TuneSummary summary = new TuneSummary(build, tune, records, searches);
        List<TuneReport.Task> tasks = Stream.concat(summary.tasks().stream(), programs.tasks().stream())
                .toList();
        summary.say(log, tasks, confirmation.before(), after);
        TuneReport report = summary.report(tasks, confirmation.before(), after);
        Json.write(reports.resolve("tune.json"), report);
        WholeFiles.write(
                reports.resolve("tune.html"), Page.of((out, html) -> JtetuneGenerated.render(out, html, report)));
        log.info("The curve of each layer: " + reports.resolve("tune.html"));
        if (tune.objective() == Metric.INSTRUCTIONS && BoardRecords.isTimed(build)) {
            log.info("Builds follow records of instructions if they set kiln.tune.objective=instructions");
        }
    }

    /** Requires an objective that builds follow; otherwise a search finds what no build uses. */
    static void requireFollowed(Objective objective, Optimize optimize) {
        if (objective.isFollowed(optimize)) {
            return;
        }
        List<String> others = Stream.of(Optimize.values())
                .filter(objective::isFollowed)
                .map(other -> "kiln.optimize=" + other.text())
                .toList();
        String followed = Stream.of(Metric.values())
                .filter(metric -> metric.isFollowed(optimize))
                .map(Objective::text)
                .toList()
                .toString();
        throw Failure.TUNE.exception(
                "builds with kiln.optimize=" + optimize.text() + " follow no records of " + objective.text(),
                PARAMETER,
                "one of " + followed + ", or several with weights",
                "Set " + String.join(" or ", others));
    }

    /**
     * Requires that what the objective compares is measured.
     *
     * @param metrics what is measured
     */
    static void requireMeasured(Objective objective, Set<Metric> metrics, boolean isOnBoard) {
        if (!metrics.containsAll(objective.metrics())) {
            throw Failure.TUNE.exception(
                    (isOnBoard ? "the board" : "the emulator") + " does not measure " + objective.text(),
                    PARAMETER,
                    "some of " + metrics.stream().map(Objective::text).sorted().toList(),
                    "Set kiln.tune.objective=" + (isOnBoard ? "time" : "instructions"));
        }
    }

    /** Measures candidates in one image, or on a farm in several at once. */
    private static final class ImagesAtOnce {
        private final List<CandidateMeasurer> measurers;

        /** @param measurers one for each image at once, at least one, all alike */
        ImagesAtOnce(List<CandidateMeasurer> measurers) {
            this.measurers = List.copyOf(measurers);
        }

        Set<Metric> metrics() {
            return measurers.get(0).metrics();
        }

        /** The measurements, one for each candidate in order. Equal shares of the candidates make equal images in equal searches. */
        List<Measured> measure(List<Candidate> candidates) {
            if (measurers.size() == 1) {
                return measurers.get(0).measure(candidates);
            }
            List<Integer> shares = IntStream.range(0, measurers.size()).boxed().toList();
            Problem interrupted = Failure.COMPUTER.problem("the build was interrupted", "kiln:tune");
            return Parallel.map(
                            shares,
                            measurers.size(),
                            interrupted,
                            i -> measurers
                                    .get(i)
                                    .measure(candidates.subList(start(candidates, i), start(candidates, i + 1))))
                    .stream()
                    .flatMap(List::stream)
                    .toList();
        }

        private int start(List<Candidate> candidates, int share) {
            return candidates.size() * share / measurers.size();
        }
    }

    /** Says how far a search of layers is, what it promises for the whole models, and the time left: a line after each image. */
    private static final class SearchProgress {
        private final Log log;
        private final List<TaskSearch> searches;
        private final Confirmation whole;
        private final SearchBudget budget;

        SearchProgress(Log log, List<TaskSearch> searches, Confirmation whole, SearchBudget budget) {
            this.log = log;
            this.searches = List.copyOf(searches);
            this.whole = whole;
            this.budget = budget;
        }

        void say() {
            int measured = searches.stream().mapToInt(TaskSearch::measured).sum();
            int left = searches.stream()
                    .filter(search -> !search.isFinished())
                    .mapToInt(search -> search.size() - search.measured())
                    .sum();
            log.info(String.format(
                    Locale.ROOT,
                    "%d of %d configurations measured, %s, about %d s left",
                    measured,
                    measured + left,
                    best(),
                    budget.rest(left)));
        }

        /** The whole models' change where it can be told from the layers', which a layer's neighbours may change. */
        private String best() {
            return whole.promised(searches)
                    .map(percent -> "whole model " + TuneSummary.percent(percent) + " by the best layers so far")
                    .orElseGet(() -> "best layers so far " + layers());
        }

        private String layers() {
            double before = 0;
            double best = 0;
            for (TaskSearch search : searches) {
                if (search.before().isPresent() && search.best().isPresent()) {
                    before += search.before().getAsDouble();
                    best += search.best().getAsDouble();
                }
            }
            return TuneSummary.change(before, best);
        }
    }
}
