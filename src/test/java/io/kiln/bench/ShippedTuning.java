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
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.task.TaskKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Tunes golden models for a built-in board and adds what won to a log of {@code toolchains/tuning}. Arguments: the board, the log, the objective,
 * trials of each layer and model, and folders of golden models. A model whose cost or RAM grew adds nothing, nor does one whose instructions grew by
 * more than a tenth.
 */
public final class ShippedTuning {
    /** Shipped records do not say when they were measured. */
    private static final double NO_TIME = 1_763_856_000;

    private static final double MOST_INSTRUCTIONS = 1.1;

    private final String board;
    private final Path shipped;
    private final TuneSpec tune;

    private ShippedTuning(String board, Path shipped, TuneSpec tune) {
        this.board = board;
        this.shipped = shipped;
        this.tune = tune;
    }

    /** As the class says. */
    public static void main(String[] args) {
        Limits limits = new Limits(Integer.parseInt(args[3]), 0, 600, 0);
        TuneSpec tune = TuneSpec.of("xgb", args[2], limits, 0, List.of(), false);
        ShippedTuning tuning = new ShippedTuning(args[0], Path.of(args[1]), tune);
        Stream.of(args).skip(4).forEach(tuning::model);
    }

    private void model(String name) {
        Path folder = Path.of("target", "tuning", board, name).toAbsolutePath();
        Path file = Path.of("..", "shared", "golden", name, "model.tflite").toAbsolutePath();
        BuildSpec spec = BuildSpec.builder(
                        new Layout(folder, folder.resolve("out"), "m"), List.of(new ModelSource(file, "m")), board)
                .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                .build();
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).tune(spec, tune, Optional.empty());
        Sizes before = report(folder).model().before();
        Sizes after = report(folder).model().after();
        System.out.println(board + " " + name + ": instructions " + before.instructions() + " to "
                + after.instructions() + ", cycles " + before.cycles() + " to " + after.cycles() + ", RAM "
                + before.ram() + " to " + after.ram());
        if (after.instructions() > before.instructions() * MOST_INSTRUCTIONS || after.ram() > before.ram()) {
            System.out.println("Nothing of it is added.");
            return;
        }
        add(winners(RecordReader.read(folder.resolve("src/main/tuning/" + board + ".log"))
                .records()));
    }

    private static TuneReport report(Path folder) {
        return Json.read(folder.resolve("out/kiln/tune.json"), TuneReport.class);
    }

    /** The best record of each layer, if it is better than the first one, which has the configuration that the build had anyway. */
    private static List<TuningRecord> winners(List<TuningRecord> records) {
        Map<String, TuningRecord> first = new LinkedHashMap<>();
        Map<String, TuningRecord> best = new LinkedHashMap<>();
        for (TuningRecord record : records) {
            first.putIfAbsent(record.task().workload(), record);
            if (record.result().isMeasured()) {
                best.merge(
                        record.task().workload(),
                        record,
                        (one, other) -> other.result().mean() < one.result().mean() ? other : one);
            }
        }
        best.values()
                .removeIf(record -> record.config()
                        .equals(first.get(record.task().workload()).config()));
        return best.values().stream()
                .map(record -> TuningRecord.of(
                        record.task(),
                        record.config(),
                        new Result(record.result().costs(), record.result().error(), 0, NO_TIME)))
                .toList();
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
