// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.compile.CompiledModel;
import io.kiln.flow.BoardFlow.NewBoard;
import io.kiln.flow.GestureProject;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.flow.spec.TuneSpec;
import io.kiln.flow.spec.TuneSpec.Limits;
import io.kiln.ir.Function;
import io.kiln.process.TestPrograms;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import io.kiln.report.TuneReport;
import io.kiln.schedule.LayerChoices;
import io.kiln.schedule.space.Configuration;
import io.kiln.target.Target;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.RecordFiles.ShippedRecords;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.record.TuningRecord.Result;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.TaskKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A search on the example model in the real emulator, its continuation, and builds that follow its records. */
class TuneStepTest {
    private static final Clock CLOCK = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);

    @TempDir
    private Path folder;

    private final KeptLog log = new KeptLog();

    @BeforeEach
    void needsAnEmulator() {
        TestPrograms.need("qemu-system-arm");
    }

    private ResolvedBuild build(Path where) {
        BuildSpec spec = new GestureProject(where)
                .spec("mps2-an386")
                .verify(GestureProject.UNVERIFIED)
                .build();
        return new Resolver(TestToolchains.environment(log)).resolve(spec);
    }

    private void tune(Path where, String tuner, int trials) {
        TuneSpec spec =
                TuneSpec.of(tuner, Optional.of("instructions"), new Limits(trials, 0, 60, 0), 3, List.of(), false);
        new TuneStep(log, build(where), spec, Optional.empty(), CLOCK).run();
    }

    @Test
    void aSearchIsRepeatableContinuesAndBuildsFollowIt() throws IOException {
        tune(folder, "random", 3);
        Path records = folder.resolve("src/main/tuning/mps2-an386.log");
        String first = Files.readString(records);
        assertThat(first.lines()).hasSize(14).allMatch(line -> line.contains("\"kiln."));
        reportsAreWritten();
        assertThat(log.said())
                .anyMatch(line -> line.matches(
                        "12 of 12 configurations measured, whole model -[0-9.]+ % by the best layers so far,"
                                + " about 0 s left"));

        Path again = folder.resolve("again");
        tune(again, "random", 3);
        assertThat(Files.readString(again.resolve("src/main/tuning/mps2-an386.log")))
                .isEqualTo(first);

        tune(folder, "random", 5);
        assertThat(Files.readString(records)).isEqualTo(first);
        Path measured = folder.resolve("out/kiln/tune-measured.log");
        assertThat(log.said())
                .contains("Nothing was gained in the whole model, so " + records
                        + " stays as it was; the measurements are in " + measured);
        assertThat(Files.readString(measured)).startsWith(first);
        assertThat(RecordReader.read(measured).records()).hasSize(22).doesNotHaveDuplicates();

        log.said().clear();
        new GenerateStep(log, build(folder)).run();
        assertThat(log.said())
                .anyMatch(line -> line.startsWith("14 tuning records in "))
                .anyMatch(line -> line.startsWith("14 of them are not followed, because they were searched for"));
        Files.delete(records);
        log.said().clear();
        new GenerateStep(log, build(folder)).run();
        assertThat(log.said()).anyMatch(line -> line.startsWith("Generating C: tuning records "));
    }

    /** Without trials no emulator is needed, and somebody's log is kept as it is. */
    @Test
    void logsAreMergedAndTheBestPickedWithoutAMeasurement() throws IOException {
        List<TuningRecord> twice = new ArrayList<>();
        for (TuningRecord record : ShippedRecords.of("cortex-m3", "cycles")) {
            twice.add(
                    TuningRecord.of(record.task(), record.config(), new Result(List.of(1.0), MeasureError.NONE, 0, 0)));
            twice.add(record);
        }
        // Templates that Kiln does not have.
        Path given = folder.resolve("given.log");
        Files.writeString(given, RecordFiles.text(twice).replace(TaskKeys.PREFIX, "theirs."));
        List<TuningRecord> others = RecordReader.read(given).records();
        Path records = folder.resolve("src/main/tuning/mps2-an386.log");
        TuneSpec merge = TuneSpec.of("xgb", Optional.of("cycles"), new Limits(0, 0, 60, 0), 3, List.of(given), false);
        new TuneStep(log, build(folder), merge, Optional.empty(), CLOCK).run();
        assertThat(records).hasSameTextualContentAs(given);
        assertThat(log.said())
                .anyMatch(line -> line.startsWith(
                        others.size() + " of the " + others.size() + " records in " + given + " choose nothing"))
                .contains("Nothing is measured, because kiln.tune.trials is 0");
        TuneSpec pick = TuneSpec.of("xgb", Optional.of("cycles"), new Limits(0, 0, 60, 0), 3, List.of(), true);
        new TuneStep(log, build(folder), pick, Optional.empty(), CLOCK).run();
        assertThat(Files.readString(records))
                .isEqualTo(RecordFiles.text(HistoryBest.pick(others)))
                .hasLineCount(others.size() / 2);
        new GenerateStep(log, build(folder)).run();
        assertThat(log.said()).anyMatch(line -> line.contains("records in " + records + " choose nothing"));
    }

    /** A call of the clock takes a second: after the first image of candidates there is only time for the whole models. */
    @Test
    void aSearchKeepsToItsBudget() throws IOException {
        TuneSpec spec = TuneSpec.of("random", Optional.of("cycles"), new Limits(100, 0, 60, 10), 3, List.of(), false);
        AtomicInteger seconds = new AtomicInteger();
        Clock clock = new Clock() {
            @Override
            public ZoneId getZone() {
                return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(ZoneId zone) {
                throw new IllegalStateException("records have times in UTC");
            }

            @Override
            public Instant instant() {
                return Instant.ofEpochSecond(seconds.getAndIncrement());
            }
        };
        new TuneStep(log, build(folder), spec, Optional.empty(), clock).run();
        assertThat(log.said()).contains("The budget of 10 s is used up before all configurations were measured");
        TuneReport report = Json.read(folder.resolve("out/kiln/tune.json"), TuneReport.class);
        assertThat(report.tasks()).hasSize(5).allMatch(task -> task.costs().size() == 1);
        assertThat(report.tasks().subList(0, 4)).allMatch(task -> task.configurations() > 1);
        assertThat(folder.resolve("src/main/tuning/mps2-an386.log")).doesNotExist();
    }

    /** The log has a slow configuration as the best: the whole model says otherwise, in cycles, which is what builds of this core follow. */
    @Test
    void whatIsLeftBehindIsNeverWorseThanWithoutTheLog() throws IOException {
        ResolvedBuild build = build(folder);
        LayerTask task = task(build, Metric.CYCLES);
        TuningRecord slow = record(task, "conv_direct(channel_block=1, unroll=1)");
        Path records = folder.resolve("src/main/tuning/mps2-an386.log");
        RecordFiles.write(records, List.of(slow));
        TuneSpec spec = TuneSpec.of("random", Optional.empty(), new Limits(1, 0, 60, 0), 3, List.of(), false);
        new TuneStep(log, build, spec, Optional.empty(), CLOCK).run();
        TuneReport report = Json.read(folder.resolve("out/kiln/tune.json"), TuneReport.class);
        assertThat(report.objective()).isEqualTo("cycles");
        assertThat(report.model().after().cycles())
                .isLessThanOrEqualTo(report.model().before().cycles());
        assertThat(RecordReader.read(records).records())
                .filteredOn(record -> record.config().equals(slow.config()))
                .singleElement()
                .satisfies(record -> assertThat(record.result().error()).isEqualTo(MeasureError.UNKNOWN));
        new GenerateStep(log, build).run();
        assertThat(GenerateStep.store(build.spec().layout()).metadata().get(0).operators())
                .noneMatch(operator -> operator.schedule().equals("conv_direct(channel_block=1, unroll=1)"));
    }

    private static TuningRecord record(LayerTask task, String configuration) {
        return TuningRecord.of(
                task.key(),
                task.space().config(Configuration.parse(configuration)),
                new Result(List.of(1e-9), MeasureError.NONE, 0, 0));
    }

    /** The first layer. */
    private static LayerTask task(ResolvedBuild build, Metric objective) {
        BuildSpec spec = build.spec();
        Target target = Target.parse(build.target());
        Function fused = fused(
                GenerateStep.compile(build, spec.models().get(0), spec.calls().io(), spec.optimize()));
        return LayerTask.of(fused, target, Optimize.SPEED, objective, LayerChoices.RULES)
                .get(0);
    }

    private void reportsAreWritten() throws IOException {
        TuneReport report = Json.read(folder.resolve("out/kiln/tune.json"), TuneReport.class);
        JsonSchemas.assertFits("tune", Files.readString(folder.resolve("out/kiln/tune.json")));
        assertThat(report.records()).isEqualTo("src/main/tuning/mps2-an386.log");
        assertThat(report.model().after().instructions())
                .isLessThanOrEqualTo(report.model().before().instructions());
        assertThat(report.model().after().ram())
                .isLessThanOrEqualTo(report.model().before().ram());
        assertTasks(report);
        assertThat(Files.readString(folder.resolve("out/kiln/tune.html")))
                .contains("Tuning for mps2-an386")
                .contains("<polyline");
        assertThat(folder.resolve("out/kiln/tune")).isEmptyDirectory();
    }

    /** Four layers, and the model with its only other plan that needs no more memory. */
    private static void assertTasks(TuneReport report) {
        assertThat(report.tasks()).hasSize(5).allMatch(task -> task.wrong() == 0);
        assertThat(report.tasks().subList(0, 4)).allMatch(task -> task.costs().size() == 3);
        TuneReport.Task program = report.tasks().get(4);
        assertThat(program.name()).isEqualTo("program gesture");
        assertThat(program.template()).isEqualTo("kiln.program.cortex-m4");
        assertThat(program.before().schedule()).isEqualTo("program(order=function, blocks=preferred, memory=107)");
        assertThat(program.costs()).hasSize(2).first().isEqualTo((double)
                report.model().after().instructions());
    }

    /** Candidates on a board are compared by its timer: in a virtual board an instruction takes a nanosecond. */
    @Test
    void aBoardMeasuresTime() {
        TestPrograms.need("openocd");
        BuildSpec spec = new GestureProject(folder)
                .spec("virtual-stm32f405")
                .verify(GestureProject.UNVERIFIED)
                .build();
        ResolvedBuild board = new Resolver(TestToolchains.environment(log)).resolve(spec);
        TuneSpec tune = TuneSpec.of("random", Optional.of("time"), new Limits(2, 0, 60, 0), 3, List.of(), false);
        new TuneStep(log, board, tune, Optional.of(DeviceSpec.USUAL), CLOCK).run();
        List<TuningRecord> records = RecordReader.read(folder.resolve("src/main/tuning/virtual-stm32f405.log"))
                .records();
        assertThat(records).hasSize(8).allSatisfy(record -> {
            assertThat(record.result().error()).isEqualTo(MeasureError.NONE);
            assertThat(record.result().mean()).isBetween(1e-7, 1e-3);
        });
        TuneReport report = Json.read(folder.resolve("out/kiln/tune.json"), TuneReport.class);
        assertThat(report.objective()).isEqualTo("time");
        assertThat(folder.resolve("out/kiln/tune.log")).content().contains("kiln-tune 0 0 ");
        TuneSpec cycles = TuneSpec.of("random", Optional.of("cycles"), new Limits(2, 0, 60, 0), 3, List.of(), false);
        assertThatThrownBy(() -> new TuneStep(log, board, cycles, Optional.of(DeviceSpec.USUAL), CLOCK).run())
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the board does not measure cycles")
                .hasMessageContaining("kiln.tune.objective=time");
    }

    /** A profile brings the records of its board. */
    @Test
    void recordsInAProfileAreFollowed() throws IOException {
        BuildSpec spec = new GestureProject(folder)
                .spec("mps2-an386")
                .verify(GestureProject.UNVERIFIED)
                .build();
        new NewBoard(log, spec.boards())
                .write("mps2-an386", "own", spec.layout().userBoards());
        String slow = "conv_direct(channel_block=1, unroll=1)";
        TuningRecord record = record(task(build(folder), Metric.CYCLES), slow);
        RecordFiles.write(spec.layout().userBoards().resolve("own").resolve("tuning.log"), List.of(record));
        ResolvedBuild own = new Resolver(TestToolchains.environment(log))
                .resolve(SpecDraft.of(spec).board("own").build());
        log.said().clear();
        new GenerateStep(log, own).run();
        assertThat(log.said()).contains("1 tuning records in the profile of the board own");
        assertThat(GenerateStep.store(spec.layout()).metadata().get(0).operators())
                .anyMatch(operator ->
                        operator.schedule().equals(slow) && operator.reason().startsWith("record"));
    }

    private static Function fused(CompiledModel model) {
        return model.stages().get(model.stages().size() - 1).function();
    }
}
