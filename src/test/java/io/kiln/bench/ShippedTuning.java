// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.spec.TuneSpec.Limits;
import io.kiln.flow.spec.VerifyOn;
import io.kiln.report.Json;
import io.kiln.report.TuneReport;
import io.kiln.report.TuneReport.Sizes;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.Result;
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
 * Tunes golden models for a built-in board and adds what won to a log of {@code toolchains/tuning}. Arguments: the board, the log, trials of each
 * layer and model, and folders of golden models. Each layer is measured in cycles and in instructions: the record is the configuration with the
 * fewest cycles, or of those within half a percent of it that with the fewest instructions; more than a tenth above the rules' choice, or what
 * {@code -DmostInstructions} allows in place of 1.1, is not taken. It is added if it gains half a percent in one of
 * them and is no slower, and if the model takes no more RAM. They are tuned with the bundled compiler, or with that of {@code -Dtoolchain}: let
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
    private final Limits limits;

    private ShippedTuning(String board, Path shipped, Limits limits) {
        this.board = board;
        this.shipped = shipped;
        this.limits = limits;
    }

    /** As the class says. */
    public static void main(String[] args) {
        ShippedTuning tuning =
                new ShippedTuning(args[0], Path.of(args[1]), new Limits(Integer.parseInt(args[2]), 0, 600, 0));
        Stream.of(args).skip(3).forEach(tuning::model);
    }

    private void model(String name) {
        List<TuningRecord> inCycles = tuned(name, "cycles");
        List<TuningRecord> inInstructions = tuned(name, "instructions");
        add(winners(inCycles, inInstructions));
    }

    /** The records of a search, the first of a layer being what a build had anyway. */
    private List<TuningRecord> tuned(String name, String objective) {
        Path folder = Path.of("target", "tuning", board, objective, name).toAbsolutePath();
        Path file = Path.of("..", "shared", "golden", name, "model.tflite").toAbsolutePath();
        BuildSpec spec = BuildSpec.builder(
                        new Layout(folder, folder.resolve("out"), "m"), List.of(new ModelSource(file, "m")), board)
                .toolchain(Optional.ofNullable(System.getProperty("toolchain")))
                .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                .build();
        TuneSpec tune = TuneSpec.of("grid", objective, limits, 0, List.of(), false);
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).tune(spec, tune, Optional.empty());
        TuneReport report = Json.read(folder.resolve("out/kiln/tune.json"), TuneReport.class);
        Sizes before = report.model().before();
        Sizes after = report.model().after();
        System.out.println(board + " " + name + " for " + objective + ": instructions " + before.instructions() + " to "
                + after.instructions() + ", cycles " + before.cycles() + " to " + after.cycles() + ", RAM "
                + before.ram() + " to " + after.ram());
        return RecordReader.read(folder.resolve("src/main/tuning/" + board + ".log"))
                .records();
    }

    private static Map<String, List<TuningRecord>> byLayer(List<TuningRecord> records) {
        return records.stream()
                .collect(Collectors.groupingBy(
                        record -> TaskKeys.layer(record.task()), LinkedHashMap::new, Collectors.toList()));
    }

    /** The record of each layer that is worth one. */
    private static List<TuningRecord> winners(List<TuningRecord> inCycles, List<TuningRecord> inInstructions) {
        Map<String, Double> instructions = new LinkedHashMap<>();
        inInstructions.forEach(
                record -> instructions.put(key(record), record.result().mean()));
        return byLayer(inCycles).values().stream()
                .flatMap(records -> winner(records, instructions).stream())
                .toList();
    }

    private static String key(TuningRecord record) {
        return TaskKeys.layer(record.task()) + record.config().entities();
    }

    private static Optional<TuningRecord> winner(List<TuningRecord> records, Map<String, Double> instructions) {
        TuningRecord before = records.get(0);
        ToDoubleFunction<TuningRecord> count =
                record -> instructions.getOrDefault(key(record), Double.POSITIVE_INFINITY);
        List<TuningRecord> all = records.stream()
                .filter(record -> record.result().isMeasured())
                .filter(record -> record.equals(before) || !isPlain(record) || isPlain(before))
                .filter(record -> count.applyAsDouble(record) <= MOST_INSTRUCTIONS * count.applyAsDouble(before))
                .toList();
        double least =
                all.stream().mapToDouble(record -> record.result().mean()).min().orElse(0);
        return all.stream()
                .filter(record -> record.result().mean() <= ALIKE * least)
                .min(Comparator.comparingDouble(count)
                        .thenComparingDouble(record -> record.result().mean()))
                .filter(best -> before.result().mean() > ALIKE * best.result().mean()
                        || (before.result().mean() >= best.result().mean()
                                && count.applyAsDouble(before) > ALIKE * count.applyAsDouble(best)))
                .map(best -> TuningRecord.of(
                        best.task(),
                        best.config(),
                        new Result(best.result().costs(), best.result().error(), 0, NO_TIME)));
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
