// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.ExecutorKind;
import io.kiln.compile.CallOptions;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import io.kiln.reference.SharedFolder;
import io.kiln.report.JsonSchemas;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Images whose models run on the graph executor of the C runtime: Kiln's own, and those of archives that TVM wrote. */
final class GraphFlowTest extends ArchiveProject {
    /** Several graphs in one image share the system library and the memory; all of a board's run in one image. */
    @ParameterizedTest
    @CsvSource({
        "host, host, false, 5",
        "mps2-an386, clang, true, 7",
        "mps3-an547, clang, true, 7",
        "qemu-riscv32, clang, true, 7",
    })
    void modelsWithGraphsAnswerBitExact(String board, String toolchain, boolean linked, int version)
            throws IOException {
        assumeRunnable(board, toolchain);
        List<ModelSource> models = models(board).stream().map(OwnModel::source).toList();
        BuildSpec spec = build(board, toolchain, models)
                .calls(CallOptions.TYPED.with(ExecutorKind.GRAPH, linked))
                .mlfVersion(version)
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0))
                .build();
        flow.build(spec, DeviceSpec.USUAL);

        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/verify.json").path("cases")).hasSize(models.size());
        assertThat(said).noneMatch(line -> line.contains("warning"));
    }

    /** {@code nightly} runs all of them everywhere. */
    private static List<OwnModel> models(String board) {
        boolean isWhole = board.equals("mps2-an386")
                || System.getProperty("kiln.golden", "").equals("all");
        if (board.equals("host")) {
            return List.of(OwnModel.SINE); // Version 5 has one model; GraphCTest has them all.
        }
        return isWhole
                ? List.of(OwnModel.KEYWORDS, OwnModel.CODER, OwnModel.RESIDUAL, OwnModel.SINE)
                : List.of(OwnModel.KEYWORDS, OwnModel.SINE);
    }

    @ParameterizedTest
    @CsvSource({
        "hello_world_int8, host, host",
        "kws_ref_model, mps2-an386, clang",
        "hello_world_int8, qemu-riscv32, clang",
    })
    @NeedsShared("tvm")
    void archivesOfTvmAnswerWhatTvmAnswers(String model, String board, String toolchain) throws IOException {
        assumeRunnable(board, toolchain);
        Path tvm = SharedFolder.need("tvm");
        BuildSpec spec = build(
                        board, toolchain, List.of(new ModelSource(tvm.resolve(model + "__graph.tar"), "default")))
                .verify(new VerifySpec(
                        VerifyOn.EMULATOR, Optional.of(tvm.resolve("vectors").resolve(model)), 0, 0))
                .build();
        flow.build(spec, DeviceSpec.USUAL);

        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/verify.json").path("cases")).hasSize(3);
    }

    @Test
    void theProfileComparesWithTheExecutorThatIsGeneratedAheadOfTime() throws IOException {
        assumeRunnable("mps2-an386", "clang");
        BuildSpec spec = build("mps2-an386", "clang", List.of(new ModelSource(GestureProject.MODEL, "gesture")))
                .executor(ExecutorKind.GRAPH, true)
                .verify(GestureProject.UNVERIFIED)
                .build();
        flow.build(spec, DeviceSpec.USUAL);
        assertThat(json("kiln/report.json").has("aot")).isFalse();
        flow.profile(spec);

        JsonSchemas.assertFits("profile", text("kiln/profile.json"));
        JsonSchemas.assertFits("report", text("kiln/report.json"));
        JsonNode graph = json("kiln/report.json");
        JsonNode aot = graph.path("aot");
        assertThat(json("kiln/profile.json").path("aot")).isEqualTo(aot);
        assertThat(aot.path("instructions").asLong()).isPositive();
        assertThat(aot.path("flash").asLong())
                .isPositive()
                .isLessThan(graph.at("/flash/total").asLong());
        assertThat(aot.path("ram").asLong())
                .isPositive()
                .isLessThan(graph.at("/ram/total").asLong());
        assertThat(said).anyMatch(line -> line.startsWith("With kiln.executor=aot: "));
        assertThat(folder.resolve("out/kiln/aot")).isEmptyDirectory();
        flow.link(spec);
        assertThat(json("kiln/report.json").path("aot")).isEqualTo(aot);
    }

    private SpecDraft build(String board, String toolchain, List<ModelSource> models) {
        return SpecDraft.of(new Layout(folder, folder.resolve("out"), "net"), models, board)
                .toolchain(Optional.of(toolchain));
    }
}
