// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.spec.TuneSpec.Limits;
import io.kiln.flow.spec.TuneSpec.RecordsSpec;
import io.kiln.reference.SharedFolder;
import io.kiln.report.Json;
import io.kiln.report.TuneReport;
import io.kiln.report.TuneReport.Sizes;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.RecordValue.Flag;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.TaskKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Tunes golden models for a built-in board and adds what won to a log of {@code toolchains/tuning}. Arguments: the board, the log, {@code cycles},
 * {@code board-cycles} or {@code instructions}, trials of each layer and model, and folders of golden models. With {@code cycles}, each layer is measured in both:
 * the record is the configuration with the fewest cycles, or of those within half a percent of it that with the fewest instructions. It is added
 * if it gains half a percent in one of them and is no slower, and takes at most a tenth more instructions than the rules' choice, or what
 * {@code -DmostInstructions} allows in place of 1.1, and keeps a weight in a byte, because flash is not its to spend. With
 * {@code instructions} or {@code board-cycles} it is the configuration with the fewest of them, if it
 * gains half a percent. It is only added if the model takes no more RAM. They are tuned with the bundled compiler, or with that of {@code -Dtoolchain}: let
 * {@code bench --compare} measure them with both before records are committed, and look at layers whose weights are all alike, which a
 * compiler folds.
 */
public final class ShippedTuning {
    /** Shipped records do not say when they were measured. */
    private static final double NO_TIME = 1_763_856_000;

    private static final double ALIKE = 1.005;

    /** How many times the instructions of the rules' choice a record may take. */
    private static final double MOST_INSTRUCTIONS = Double.parseDouble(System.getProperty("mostInstructions", "1.1"));

    private final String board;
    private final Path shipped;
    private final Metric objective;
    private final Limits limits;

    private ShippedTuning(String board, Path shipped, Metric objective, Limits limits) {
        this.board = board;
        this.shipped = shipped;
        this.objective = objective;
        this.limits = limits;
    }

    /** As the class says. */
    public static void main(String[] args) {
        Metric objective = Stream.of(Metric.CYCLES, Metric.INSTRUCTIONS, Metric.BOARD_CYCLES)
                .filter(metric -> metric.text().equals(args[2]))
                .findFirst()
                .orElseThrow();
        Limits limits = new Limits(Integer.parseInt(args[3]), 0, 600, 0);
        ShippedTuning tuning = new ShippedTuning(args[0], Path.of(args[1]), objective, limits);
        Stream.of(args).skip(4).forEach(tuning::model);
    }

    private void model(String name) {
        List<TuningRecord> records = tuned(name, objective).stream()
                .filter(record -> objective == Metric.INSTRUCTIONS || !isOfPairs(record))
                .toList();
        add(winners(records, objective == Metric.CYCLES ? tuned(name, Metric.INSTRUCTIONS) : List.of()));
    }

    /** The records of a search, the first of a layer being what a build had anyway. */
    private List<TuningRecord> tuned(String name, Metric sought) {
        Path folder = Path.of("target", "tuning", board, objective.text(), sought.text(), name)
                .toAbsolutePath();
        Path file = SharedFolder.ROOT
                .resolve("golden")
                .resolve(name)
                .resolve("model.tflite")
                .toAbsolutePath();
        Metric followed = objective == Metric.INSTRUCTIONS ? objective : Metric.CYCLES;
        BuildSpec spec = SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "m"), List.of(new ModelSource(file, "m")), board)
                .toolchain(Optional.ofNullable(System.getProperty("toolchain")))
                .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                .records(RecordsSpec.of(Optional.empty(), List.of(), Optional.of(followed.text())))
                .build();
        TuneSpec tune = TuneSpec.of("grid", Optional.of(sought.text()), limits, 0, List.of(), false);
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).tune(spec, tune, Optional.empty());
        TuneReport report = Json.read(folder.resolve("out/kiln/tune.json"), TuneReport.class);
        Sizes before = report.model().before();
        Sizes after = report.model().after();
        System.out.println(
                board + " " + name + " for " + sought.text() + ": instructions " + before.instructions() + " to "
                        + after.instructions() + ", cycles " + before.cycles() + " to " + after.cycles() + ", RAM "
                        + before.ram() + " to " + after.ram());
        Path gained = folder.resolve("src/main/tuning/" + board + ".log");
        Path measured = folder.resolve("out/kiln/tune-measured.log");
        return RecordReader.read(Files.exists(measured) ? measured : gained).records();
    }

    private static Map<String, List<TuningRecord>> byLayer(List<TuningRecord> records) {
        return records.stream()
                .collect(Collectors.groupingBy(
                        record -> TaskKeys.layer(record.task()), LinkedHashMap::new, Collectors.toList()));
    }

    /** The record of each layer that is worth one. */
    private static List<TuningRecord> winners(List<TuningRecord> found, List<TuningRecord> inOther) {
        Map<String, Double> others = new LinkedHashMap<>();
        inOther.forEach(record -> others.put(key(record), record.result().mean()));
        return byLayer(found).values().stream()
                .flatMap(records -> winner(records, others).stream())
                .toList();
    }

    private static String key(TuningRecord record) {
        return TaskKeys.layer(record.task()) + record.config().entities();
    }

    private static Optional<TuningRecord> winner(List<TuningRecord> records, Map<String, Double> others) {
        TuningRecord before = records.get(0);
        ToDoubleFunction<TuningRecord> other = record -> others.getOrDefault(key(record), Double.POSITIVE_INFINITY);
        List<TuningRecord> all = records.stream()
                .filter(record -> record.result().isMeasured())
                .filter(record -> record.equals(before) || !isPlain(record) || isPlain(before))
                .filter(record -> other.applyAsDouble(record) <= MOST_INSTRUCTIONS * other.applyAsDouble(before))
                .toList();
        double least =
                all.stream().mapToDouble(record -> record.result().mean()).min().orElse(0);
        return all.stream()
                .filter(record -> record.result().mean() <= ALIKE * least)
                .min(Comparator.comparingDouble(other)
                        .thenComparingDouble(record -> record.result().mean()))
                .filter(best -> before.result().mean() > ALIKE * best.result().mean()
                        || (before.result().mean() >= best.result().mean()
                                && other.applyAsDouble(before) > ALIKE * other.applyAsDouble(best)))
                .map(best -> TuningRecord.of(
                        best.task(),
                        best.config(),
                        new Result(best.result().costs(), best.result().error(), 0, NO_TIME)));
    }

    private static boolean isOfPairs(TuningRecord record) {
        return record.config().entities().stream()
                .anyMatch(entity -> entity.name().equals("weight_pairs") && entity.value() instanceof Flag);
    }

    /** What plain C is compiled to differs between compilers too much, where there is a micro-kernel. */
    private static boolean isPlain(TuningRecord record) {
        return record.config().entities().stream()
                .anyMatch(entity -> entity.name().equals("schedule")
                        && entity.value() instanceof Text schedule
                        && schedule.value().endsWith("_direct"));
    }

    private void add(List<TuningRecord> found) {
        Map<String, TuningRecord> all = new LinkedHashMap<>();
        if (Files.exists(shipped)) {
            RecordReader.read(shipped).records().forEach(record -> all.put(TaskKeys.layer(record.task()), record));
        }
        found.forEach(record -> all.put(TaskKeys.layer(record.task()), record));
        WholeFiles.write(shipped, RecordFiles.text(new ArrayList<>(all.values())));
    }
}
