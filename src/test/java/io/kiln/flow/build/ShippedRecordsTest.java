// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.OperatorInfo;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.ResourceTree;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.RecordsSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.reference.OwnModel;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.ShippedRecords;
import io.kiln.tuning.record.TaskKey;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.TaskKeys;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The records that come with Kiln are well-formed, fit the layers of their models, and give way to the project's own. */
class ShippedRecordsTest {
    private static final Optional<String> INSTRUCTIONS = Optional.of("instructions");

    @TempDir
    private Path folder;

    private final Log log = new KeptLog();

    private ResolvedBuild build(String board) {
        return build(board, Optional.empty());
    }

    private ResolvedBuild build(String board, Optional<String> objective) {
        Path model = OwnModel.SINE.model();
        BuildSpec spec = SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "m"), List.of(new ModelSource(model, "m")), board)
                .records(RecordsSpec.of(Optional.empty(), List.of(), objective))
                .build();
        return new Resolver(TestToolchains.environment(log)).resolve(spec);
    }

    private static CompiledModel compiled(ResolvedBuild build) {
        BuildSpec spec = build.spec();
        return GenerateStep.compile(build, spec.models().get(0), spec.calls().io(), spec.optimize());
    }

    private static List<OperatorInfo> operators(CompiledModel model) {
        return model.library().metadata().operators();
    }

    @ParameterizedTest
    @CsvSource({"cycles, ''", "instructions, instructions/"})
    void eachLogHasOneMeasuredRecordOfEachLayerOfItsCore(String objective, String folder) {
        List<String> logs = ResourceTree.read("toolchains/tuning/" + folder).keySet().stream()
                .filter(file -> file.endsWith(".log") && !file.contains("/"))
                .toList();
        assertThat(logs).contains("cortex-m3.log", "cortex-m4.log", "cortex-m55.log", "rv32imac.log");
        for (String file : logs) {
            String core = file.substring(0, file.length() - ".log".length());
            List<TuningRecord> records = ShippedRecords.of(core, objective);
            assertThat(RecordReader.parse(ShippedRecords.text(core, objective).orElseThrow(), file)
                            .warnings())
                    .isEmpty();
            assertThat(records).isNotEmpty().allSatisfy(record -> {
                assertThat(record.result().isMeasured()).isTrue();
                assertThat(record.task().template()).startsWith(TaskKeys.PREFIX).endsWith("." + core);
                assertThat(record.task().keys()).isNotEmpty();
                assertThat(TaskKeys.objective(record.task())).isEqualTo(objective);
            });
            assertThat(records.stream()
                            .map(record -> TaskKeys.layer(record.task()))
                            .collect(Collectors.toSet()))
                    .hasSameSizeAs(records);
        }
    }

    private static long workspace(CompiledModel model) {
        return model.module().planned().layout().plan().bytes();
    }

    @ParameterizedTest
    @ValueSource(strings = {"mps2-an385", "mps2-an386", "mps3-an547", "qemu-riscv32"})
    void aModelThatFollowsThemTakesNoMoreRam(String board) {
        takesNoMoreRam(build(board));
        takesNoMoreRam(build(board, INSTRUCTIONS));
    }

    private static void takesNoMoreRam(ResolvedBuild build) {
        CompiledModel tuned = compiled(build);
        CompiledModel untuned = ModelCompiler.compile(
                RequestDraft.of(build.spec().models().get(0).file(), build.target())
                        .build());
        assertThat(operators(tuned)).anyMatch(operator -> operator.reason().startsWith("record: "));
        assertThat(operators(untuned)).noneMatch(operator -> operator.reason().startsWith("record: "));
        assertThat(workspace(tuned)).isLessThanOrEqualTo(workspace(untuned));
    }

    private static List<String> records(ResolvedBuild build) {
        return operators(compiled(build)).stream()
                .map(OperatorInfo::reason)
                .filter(reason -> reason.startsWith("record: "))
                .toList();
    }

    @Test
    void aBuildFollowsThoseOfInstructionsIfItSaysSo() {
        assertThat(records(build("mps2-an385"))).isNotEmpty().allMatch(reason -> reason.endsWith(" cycles a call"));
        ResolvedBuild build = build("mps2-an385", INSTRUCTIONS);
        List<String> followed = records(build);
        assertThat(followed).isNotEmpty().allMatch(reason -> reason.endsWith(" instructions a call"));
        RecordFiles.write(BoardRecords.log(build.spec()), ShippedRecords.of("cortex-m3", "cycles"));
        assertThat(records(build)).isEqualTo(followed);
        assertThat(records(build("mps2-an385"))).allMatch(reason -> reason.endsWith(" cycles a call"));
    }

    /** Records of cycles with the waits of a board's flash, as if they were found with a cache of another size. */
    private static List<TuningRecord> ofBoardCycles(int cacheBytes) {
        return ShippedRecords.of("cortex-m4", "cycles").stream()
                .map(record -> {
                    List<RecordValue> args = new ArrayList<>(record.task().args());
                    args.set(args.size() - 1, new RecordValue.Text(Metric.BOARD_CYCLES.text()));
                    TaskKey key = new TaskKey(
                            record.task().target() + " -i-cache-size=" + cacheBytes,
                            record.task().template(),
                            args);
                    return TuningRecord.of(key, record.config(), record.result());
                })
                .toList();
    }

    /** What is fastest where flash waits depends on the cache of code: records of another size of it, or of none, are left alone. */
    @Test
    void recordsOfBoardCyclesHoldForCachesOfTheSameSize() {
        ResolvedBuild waits = build("nucleo-l4r5zi");
        assertThat(waits.target()).contains("-i-cache-size=1024");
        RecordFiles.write(BoardRecords.log(waits.spec()), ofBoardCycles(1024));
        assertThat(records(waits)).isNotEmpty().allMatch(reason -> reason.endsWith(" board cycles a call"));
        RecordFiles.write(BoardRecords.log(waits.spec()), ofBoardCycles(8192));
        assertThat(records(waits)).isNotEmpty().noneMatch(reason -> reason.endsWith(" board cycles a call"));
        ResolvedBuild free = build("mps2-an386");
        RecordFiles.write(BoardRecords.log(free.spec()), ofBoardCycles(1024));
        assertThat(records(free)).isNotEmpty().noneMatch(reason -> reason.endsWith(" board cycles a call"));
    }

    @Test
    void anObjectiveThatDoesNotExistIsNamed() {
        assertThatThrownBy(() -> build("mps2-an385", Optional.of("speed")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.tune.objective is 'speed'");
    }

    @Test
    void aBuildFollowsThemUntilTheProjectHasItsOwn() {
        ResolvedBuild build = build("qemu-riscv32");
        CompiledModel model = compiled(build);
        assertThat(model.unfitRecords()).isEmpty();
        OperatorInfo layer = operators(model).stream()
                .filter(operator -> operator.reason().startsWith("record: "))
                .findFirst()
                .orElseThrow();
        TuningRecord shipped = ShippedRecords.of("rv32imac", "cycles").stream()
                .filter(record -> layer.reason()
                        .contains(String.format(
                                Locale.ROOT,
                                "%,d cycles",
                                Math.round(record.result().mean() * 1e9))))
                .findFirst()
                .orElseThrow();
        TuningRecord.Result slow =
                new TuningRecord.Result(List.of(1.0), shipped.result().error(), 0, 0);
        TuningRecord own = TuningRecord.of(shipped.task(), shipped.config(), slow);
        RecordFiles.write(BoardRecords.log(build.spec()), List.of(own));
        assertThat(operators(compiled(build)))
                .anyMatch(operator -> operator.reason().contains("1,000,000,000 cycles"));
    }
}
