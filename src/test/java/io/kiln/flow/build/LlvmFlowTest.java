// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ExecutorKind;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.firmware.TrustedArchives;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.reference.OwnModel;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Builds whose models become objects. */
class LlvmFlowTest {
    private static final VerifySpec VECTORS =
            new VerifySpec(VerifyOn.EMULATOR, Optional.of(GestureProject.VECTORS), 1, 0);

    @TempDir
    private Path folder;

    private final Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));

    @ParameterizedTest
    @CsvSource({
        "mps2-an386, clang, c, true, aot",
        "mps2-an386, gnu, packed, false, aot",
        "qemu-riscv32, gnu, packed, true, aot",
        "host, host, c, true, aot",
        "host, host, packed, true, graph"
    })
    void answersBitExactAndTheArchiveHasObjectsInPlaceOfC(
            String board, String toolchain, String api, boolean unpacked, String executor) throws IOException {
        TestToolchains.resolve(toolchain, Boards.builtIn().find(board).target());
        GestureProject project = new GestureProject(folder);
        flow.build(
                project.spec(board)
                        .toolchain(Optional.of(toolchain))
                        .target("llvm")
                        .calls(Optional.of(api), unpacked, Optional.empty(), false)
                        .executor(ExecutorKind.of(executor), true)
                        .verify(VECTORS)
                        .build(),
                DeviceSpec.USUAL);
        assertThat(project.json("kiln/verify.json").path("bitExact").asBoolean())
                .isTrue();
        assertThat(project.json("kiln/report.json").path("target").asText()).startsWith("llvm -keys");
        assertThat(project.json("generated-sources/kiln/metadata.json").toString())
                .contains("llvm -keys");
        assertThat(ModelLibraryFormat.files(project.out("gesture-mlf.tar")).keySet())
                .contains("codegen/host/lib/gesture_lib0.o", "src/gesture.relay")
                .anyMatch(file -> file.matches("codegen/host/lib/gesture_lib[12].o"))
                .noneMatch(file -> file.startsWith("codegen/host/src/"));
    }

    @Test
    void headerAndArchiveAreThoseOfCAndTheArchiveIsBuiltAgain() throws IOException {
        GestureProject c = new GestureProject(folder.resolve("c"));
        flow.generate(c.spec("mps2-an386").build());
        GestureProject llvm = new GestureProject(folder.resolve("llvm"));
        BuildSpec spec = llvm.spec("mps2-an386").target("llvm").verify(VECTORS).build();
        flow.build(spec, DeviceSpec.USUAL);
        String header = "generated-sources/kiln/codegen/host/include/tvmgen_gesture.h";
        assertThat(llvm.text(header).replaceFirst("tvm target: llvm", "tvm target: c"))
                .isEqualTo(c.text(header));
        byte[] image = Files.readAllBytes(llvm.out("gesture.bin"));

        Path archive = Files.copy(llvm.out("gesture-mlf.tar"), folder.resolve("again.tar"));
        GestureProject again = new GestureProject(folder.resolve("again"));
        BuildSpec rebuilt = SpecDraft.of(
                        again.spec("mps2-an386").build().layout(),
                        List.of(new ModelSource(archive, "gesture")),
                        "mps2-an386")
                .trustedArchives(TrustedArchives.parse("again.tar"))
                .verify(GestureProject.UNVERIFIED)
                .build();
        flow.build(rebuilt, DeviceSpec.USUAL);
        assertThat(Files.readAllBytes(again.out("gesture.bin"))).isEqualTo(image);
    }

    @Test
    void twoPackedModelsOfObjectsAreOneImage() throws IOException {
        TestToolchains.resolve("host", Boards.builtIn().find("host").target());
        GestureProject project = new GestureProject(folder);
        flow.build(
                SpecDraft.of(
                                project.spec("host").build().layout(),
                                List.of(
                                        new ModelSource(OwnModel.SINE.model(), "sine"),
                                        new ModelSource(OwnModel.SUMS.model(), "sums")),
                                "host")
                        .toolchain(Optional.of("host"))
                        .target("llvm")
                        .calls(Optional.of("packed"), false, Optional.empty(), false)
                        .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0))
                        .build(),
                DeviceSpec.USUAL);
        assertThat(project.json("kiln/verify.json").path("bitExact").asBoolean())
                .isTrue();
        assertThat(project.json("kiln/verify.json").path("cases")).hasSize(2);
        assertThat(project.out("generated-sources/kiln/codegen/host/lib/sums_lib2.o"))
                .exists();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "llvm -mcpu=cortex-m55|the target is for the core cortex-m55, and the board mps2-an386 has cortex-m4",
                "llvm -mcpu=cortex-m4 -mtriple=nonsense|clang does not know the target",
                "cmsis-nn -mcpu=cortex-m4|the target is of kind cmsis-nn, which runs no model by itself",
                "llmv|unknown target kind `llmv`"
            })
    void aTargetThatCannotBeIsRefusedBeforeAnythingIsMade(String target, String message) {
        GestureProject project = new GestureProject(folder);
        assertThatThrownBy(() ->
                        flow.generate(project.spec("mps2-an386").target(target).build()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(message);
        assertThat(project.out("generated-sources")).doesNotExist();
    }

    /** Objects cannot be made without a compiler, and C is not what was asked for. */
    @Test
    void withoutACompilerNothingIsMade() {
        ToolchainEnvironment none = new ToolchainEnvironment(
                folder.resolve("home"),
                List.of(),
                (group, name, version, classifier, extension) -> {
                    throw new KilnException(Failure.CONFIG.problem("no repository has " + name, "test", "", ""));
                },
                Log.QUIET);
        GestureProject project = new GestureProject(folder);
        for (String target : List.of("llvm", "llvm -mcpu=cortex-m4", "cmsis-nn -mcpu=cortex-m4, llvm")) {
            assertThatThrownBy(() -> new Flow(Log.QUIET, none)
                            .generate(project.spec("mps2-an386").target(target).build()))
                    .as(target)
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("no repository has llvm");
            assertThat(project.out("generated-sources")).doesNotExist();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"llvm -mcpu=cortex-m4", "llvm -keys=arm_cpu,cpu -mcpu=cortex-m4 -mtriple=thumbv7em-none-eabihf"})
    void aWholeTargetTakesThePlaceOfTheBoards(String target) throws IOException {
        GestureProject project = new GestureProject(folder);
        flow.generate(project.spec("mps2-an386").target(target).build());
        assertThat(project.out("generated-sources/kiln/codegen/host/lib/gesture_lib1.o"))
                .exists();
    }
}
