// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Failure;
import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompiledModel;
import io.kiln.flow.build.BoardRecords;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.TuneSpec.RecordsSpec;
import io.kiln.flow.tune.ProgramSearch.ImageCost;
import io.kiln.ir.Function;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.report.Json;
import io.kiln.report.TuneReport.ProposalReport;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.ProgramTask;
import io.kiln.tuning.task.TaskKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Proposes what a search found to a team: a log to commit, to which the searches of several projects add, and a summary of what each model gains.
 * The project's own log stays as it is. A record is proposed only if a model gains by it and none of the project's models loses: each is built
 * alone with what was there and with the proposal, measured, and verified.
 */
record Proposal(Log log, ResolvedBuild build, Path file, Path given, List<TuningRecord> begun) {
    private static final String LOG = ".log";

    /**
     * Begins with what builds follow now, and what was proposed before, in a log of the search's own.
     *
     * @param file the log to commit; its name ends in {@code .log}
     * @throws KilnException if it has another name, or no emulator tells the objective of whole models
     */
    static Proposal begin(Log log, ResolvedBuild build, Path file, Objective objective) {
        if (!file.getFileName().toString().endsWith(LOG)) {
            throw Failure.CONFIG.exception("kiln.tune.propose is " + file, "", "a file whose name ends in " + LOG);
        }
        if (!new ImageCost(objective).isMeasured()) {
            throw Failure.CONFIG.exception(
                    "kiln.tune.propose with the objective " + objective.text(),
                    "",
                    "an objective that the emulator tells of whole models, such as cycles",
                    "Search on the board without kiln.tune.propose, and compare there");
        }
        List<TuningRecord> begun =
                RecordFiles.merge(List.of(read(BoardRecords.log(build.spec())), read(file.toAbsolutePath())));
        Path own = build.spec().layout().reports().resolve("tune-found" + LOG).toAbsolutePath();
        Path given = own.resolveSibling("tune-given" + LOG);
        WholeFiles.write(own, RecordFiles.text(begun));
        WholeFiles.write(given, RecordFiles.text(begun));
        RecordsSpec records = build.spec().compiler().records().with(own);
        BuildSpec spec = build.spec().with(build.spec().compiler().with(records));
        return new Proposal(log, build.with(spec, build.runsOn()), file.toAbsolutePath(), given, begun);
    }

    private static List<TuningRecord> read(Path records) {
        return RecordFiles.open(records).records();
    }

    /** What a model costs with what was there, and with a proposal. */
    private record Compared(WholeModels.Image before, WholeModels.Image after) {}

    /**
     * Compares, writes what gains, and says so.
     *
     * @param tasks the layers with the choices that a build makes without a log
     * @param folder for the images
     */
    void settle(List<CompiledModel> models, List<LayerTask> tasks, Objective objective, Path folder) {
        ImageCost cost = new ImageCost(objective);
        List<TuningRecord> winners = winners(tasks);
        Map<String, Set<String>> workloads = new LinkedHashMap<>();
        models.forEach(model -> workloads.put(model.library().metadata().name(), workloads(model, objective)));
        Map<String, Compared> compared = new LinkedHashMap<>();
        boolean isSettled = false;
        while (!isSettled) {
            compared.clear();
            Path proposed = given.resolveSibling("tune-proposed" + LOG);
            WholeFiles.write(proposed, RecordFiles.text(with(begun, winners)));
            Set<String> touched = workloads(winners);
            for (ModelSource model : build.spec().models()) {
                Set<String> own = workloads.getOrDefault(model.name(), Set.of());
                if (own.stream().anyMatch(touched::contains)) {
                    compared.put(model.name(), compare(model, proposed, objective, folder));
                }
            }
            Set<String> losers = new HashSet<>();
            Set<String> useful = new HashSet<>();
            compared.forEach((model, images) -> {
                (isWorse(cost, objective, images) ? losers : isBetter(cost, images) ? useful : new HashSet<String>())
                        .addAll(workloads.get(model));
            });
            List<TuningRecord> kept = winners.stream()
                    .filter(record -> useful.contains(record.task().workload())
                            && !losers.contains(record.task().workload()))
                    .toList();
            isSettled = kept.size() == winners.size();
            winners = kept;
        }
        write(winners, compared, workloads, cost, objective);
    }

    /** The records that won, unless they choose what is chosen anyway. */
    private List<TuningRecord> winners(List<LayerTask> tasks) {
        Map<String, LayerTask> byWorkload = new HashMap<>();
        tasks.forEach(task -> byWorkload.put(task.key().workload(), task));
        HistoryBest then = new HistoryBest(begun);
        return HistoryBest.pick(read(BoardRecords.log(build.spec()))).stream()
                .filter(record -> !begun.contains(record))
                .filter(record -> {
                    Optional<TuningRecord> old = then.find(record.task());
                    if (old.isPresent()) {
                        return !old.get()
                                .config()
                                .entities()
                                .equals(record.config().entities());
                    }
                    Optional<LayerTask> task =
                            Optional.ofNullable(byWorkload.get(record.task().workload()));
                    return task.isEmpty()
                            || task.get()
                                    .space()
                                    .find(record.config())
                                    .filter(task.get().rule()::equals)
                                    .isEmpty();
                })
                .toList();
    }

    private Set<String> workloads(CompiledModel model, Objective objective) {
        Function fused = model.stages().get(model.stages().size() - 1).function();
        Target target = Target.parse(build.target());
        BuildSpec spec = build.spec();
        String prefix = new InterfaceNames(model.library().metadata().name()).prefix();
        Stream<TaskKey> layers = FusedOperator.all(fused, prefix).stream()
                .filter(Dispatch::hasChoice)
                .map(op -> TaskKeys.of(op, ConvComputation.of(op), target, spec.optimize(), objective));
        TaskKey program =
                new ProgramTask(fused, target, spec.optimize(), spec.calls().io()).key(objective);
        return Stream.concat(layers, Stream.of(program)).map(TaskKey::workload).collect(Collectors.toSet());
    }

    private static Set<String> workloads(List<TuningRecord> records) {
        return records.stream().map(record -> record.task().workload()).collect(Collectors.toSet());
    }

    private Compared compare(ModelSource model, Path proposed, Objective objective, Path folder) {
        VerifySpec usual = build.spec().image().verify();
        VerifySpec cases =
                new VerifySpec(VerifyOn.EMULATOR, usual.vectors(), Math.max(1, usual.samples()), usual.seed());
        ResolvedBuild alone = build.with(build.spec().of(model), build.runsOn());
        WholeModels whole = new WholeModels(alone, folder.resolve("proposal"), objective, cases);
        boolean inCycles = new ImageCost(objective).inCycles();
        return new Compared(whole.verified(given, "given", inCycles), whole.verified(proposed, "proposed", inCycles));
    }

    private static boolean isBetter(ImageCost cost, Compared images) {
        return of(cost, images, images.after()) < of(cost, images, images.before());
    }

    private static boolean isWorse(ImageCost cost, Objective objective, Compared images) {
        boolean isLarger = images.after().workspace() > images.before().workspace()
                && !objective.metrics().contains(Metric.RAM);
        return isLarger || of(cost, images, images.after()) > of(cost, images, images.before());
    }

    private static double of(ImageCost cost, Compared images, WholeModels.Image image) {
        return cost.of(image.sizes(), images.before().sizes());
    }

    /** A log with new records, without those of the same tasks that they replace. */
    private static List<TuningRecord> with(List<TuningRecord> old, List<TuningRecord> added) {
        Set<TaskKey> tasks = added.stream().map(TuningRecord::task).collect(Collectors.toSet());
        List<TuningRecord> all = new ArrayList<>(old);
        all.removeIf(record -> tasks.contains(record.task()));
        all.addAll(added);
        return all;
    }

    private void write(
            List<TuningRecord> winners,
            Map<String, Compared> compared,
            Map<String, Set<String>> workloads,
            ImageCost cost,
            Objective objective) {
        String project = build.spec().layout().project().getFileName().toString();
        List<ProposalReport.Model> gains = new ArrayList<>();
        if (!winners.isEmpty()) {
            compared.forEach((model, images) -> {
                double before = of(cost, images, images.before());
                int records = (int) winners.stream()
                        .filter(record ->
                                workloads.get(model).contains(record.task().workload()))
                        .count();
                gains.add(new ProposalReport.Model(
                        project,
                        build.board().id(),
                        model,
                        objective.text(),
                        records,
                        100 * (before - of(cost, images, images.after())) / before,
                        images.before().sizes(),
                        images.after().sizes()));
            });
        }
        // Projects of a reactor may be searched at once.
        try (FolderLock lock = FolderLock.acquire(file.getParent(), "tune-proposal")) {
            lock.guarding(file.getParent());
            if (!winners.isEmpty()) {
                RecordFiles.write(file, with(read(file), winners));
            }
            Path json = beside(".json");
            List<ProposalReport.Model> all = new ArrayList<>(
                    Files.exists(json) ? Json.read(json, ProposalReport.class).models() : List.of());
            all.removeIf(model -> model.project().equals(project)
                    && model.board().equals(build.board().id()));
            all.addAll(gains);
            all.sort((one, other) ->
                    (one.project() + " " + one.model()).compareTo(other.project() + " " + other.model()));
            ProposalReport report = new ProposalReport(all);
            Json.write(json, report);
            WholeFiles.write(beside(".md"), report.markdown());
        }
        new ProposalReport(gains).markdown().lines().forEach(log::debug);
        log.info(
                winners.isEmpty()
                        ? "Nothing to propose: no model gains, and " + file + " stays as it was"
                        : "Proposed: " + winners.size() + " records for " + gains.size() + " models, verified, in "
                                + file + "; gains in " + beside(".md"));
    }

    private Path beside(String ending) {
        String name = file.getFileName().toString();
        return file.resolveSibling(name.substring(0, name.length() - LOG.length()) + ending);
    }
}
