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
import io.kiln.flow.spec.SpecDraft;
import io.kiln.flow.spec.TuneSpec.RecordsSpec;
import io.kiln.reference.OwnModel;
import io.kiln.target.InstructionCache;
import io.kiln.target.InstructionCache.SizeClass;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.tuning.record.RecordFiles;
import io.kiln.tuning.record.RecordFiles.ShippedRecords;
import io.kiln.tuning.record.RecordReader;
import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.TaskKeys;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
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
    @CsvSource({"cycles, toolchains/tuning", "instructions, toolchains/tuning/instructions"})
    void eachLogHasOneMeasuredRecordOfEachLayerOfItsCore(String objective, String folder) {
        List<String> logs = ResourceTree.read(folder).keySet().stream()
                .filter(file -> file.endsWith(".log") && !file.contains("/"))
                .toList();
        assertThat(logs).contains("cortex-m3.log", "cortex-m4.log", "cortex-m55.log", "rv32imac.log");
        for (String file : logs) {
            String core = file.substring(0, file.length() - ".log".length());
            assertThat(ofEachLayerOne(core, objective, file))
                    .allSatisfy(record ->
                            assertThat(TaskKeys.objective(record.task())).isEqualTo(objective));
        }
    }

    private static List<TuningRecord> ofEachLayerOne(String core, String objective, String file) {
        List<TuningRecord> records = ShippedRecords.of(core, objective);
        assertThat(RecordReader.parse(ShippedRecords.text(core, objective).orElseThrow(), file)
                        .warnings())
                .isEmpty();
        assertThat(records).isNotEmpty().allSatisfy(record -> {
            assertThat(record.result().isMeasured()).isTrue();
            assertThat(record.task().template()).startsWith(TaskKeys.PREFIX).endsWith("." + core);
            assertThat(record.task().keys()).isNotEmpty();
        });
        assertThat(records.stream().map(record -> TaskKeys.layer(record.task())).collect(Collectors.toSet()))
                .hasSameSizeAs(records);
        return records;
    }

    @ParameterizedTest
    @EnumSource
    void thoseOfBoardCyclesLieWithTheCachesTheyWereFoundWith(SizeClass cache) {
        String folder = "board-cycles/" + cache.text();
        Set<String> logs = ResourceTree.read("toolchains/tuning/" + folder).keySet();
        assertThat(logs).isNotEmpty().allMatch(file -> file.endsWith(".log") && !file.contains("/"));
        for (String file : logs) {
            String core = file.substring(0, file.length() - ".log".length());
            assertThat(ofEachLayerOne(core, folder, file)).allSatisfy(record -> {
                assertThat(TaskKeys.objective(record.task())).isEqualTo(Metric.BOARD_CYCLES.text());
                int bytes = InstructionCache.stated(record.task().target()).orElseThrow();
                assertThat(SizeClass.of(bytes)).isEqualTo(cache);
                assertThat(ShippedRecords.ofBoardCycles(core, record.task().target()))
                        .contains(record);
            });
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

    /** What is fastest where flash waits depends on the cache of code: records of another class of it, of a larger one, or of none, are left alone. */
    @ParameterizedTest
    @CsvSource({
        "nucleo-l4r5zi, 512, true",
        "nucleo-l4r5zi, 1024, true",
        "nucleo-l4r5zi, 2048, false",
        "nucleo-l4r5zi, 16384, false",
        "nrf52840-dk, 1024, false",
        "nrf52840-dk, 2048, true",
        "nrf52840-dk, 4096, false",
        "mps2-an386, 1024, false"
    })
    void recordsOfBoardCyclesHoldForCachesOfTheSameClassThatAreNoSmaller(String board, int bytes, boolean holds) {
        ResolvedBuild waits = build(board);
        List<TuningRecord> records = ofBoardCycles(bytes);
        RecordFiles.write(BoardRecords.log(waits.spec()), records);
        Set<String> costs = records.stream().map(ShippedRecordsTest::cost).collect(Collectors.toSet());
        List<String> followed = records(waits);
        assertThat(followed).isNotEmpty();
        assertThat(followed.stream().filter(reason -> costs.stream().anyMatch(reason::endsWith)))
                .hasSize(holds ? followed.size() : 0);
    }

    private static String cost(TuningRecord record) {
        return String.format(
                Locale.ROOT,
                " %,d board cycles a call",
                Math.round(record.result().mean() * 1e9));
    }

    @Test
    void aBuildForABoardWhoseFlashWaitsFollowsThoseOfItsCache() {
        ResolvedBuild build = build("nucleo-l4r5zi");
        Set<String> costs = ShippedRecords.ofBoardCycles("cortex-m4", build.target()).stream()
                .map(ShippedRecordsTest::cost)
                .collect(Collectors.toSet());
        assertThat(records(build)).anyMatch(reason -> costs.stream().anyMatch(reason::endsWith));
        assertThat(records(build("nucleo-l4r5zi", INSTRUCTIONS))).noneMatch(reason -> reason.contains("board cycles"));
        assertThat(records(build("mps2-an386"))).noneMatch(reason -> reason.contains("board cycles"));
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
