// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Digests;
import io.kiln.base.KilnException;
import io.kiln.firmware.TrustedArchives;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.ImageSpec.RunSpec;
import io.kiln.mlf.TvmArchive;
import io.kiln.report.JsonSchemas;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Firmware from archives as TVM makes them, with the real compilers, on this computer and in QEMU. */
final class ArchiveFlowTest extends ArchiveProject {
    @ParameterizedTest
    @CsvSource({
        "v5, mps2-an386, gnu, 2",
        "v5, mps2-an386, clang, 2",
        "v6, host, host, 2",
        "v6, mps2-an386, clang, 2",
        "v7, host, host, 2",
        "v7, mps2-an386, gnu, 2",
        "dsp, mps2-an386, clang, 4",
        "dsp, mps2-an386, gnu, 4",
    })
    void theImageAnswersWhatTheVectorsSay(String archive, String board, String toolchain, int cases)
            throws IOException {
        assumeRunnable(board, toolchain);
        Path file = TvmArchive.of(archive).save(folder.resolve("net.tar"));
        TvmArchive.vectors(archive, folder.resolve("vectors"));
        flow.build(spec(board, toolchain, file), DeviceSpec.USUAL);

        JsonSchemas.assertFits("report", text("kiln/report.json"));
        JsonSchemas.assertFits("verify", text("kiln/verify.json"));
        JsonNode report = json("kiln/report.json");
        // Constants are what they are also where version 6 leaves out their const.
        assertThat(report.at("/flash/constants").asLong()).isGreaterThanOrEqualTo(24);
        assertThat(report.at("/ram/data").asLong()).isLessThan(board.equals("host") ? Long.MAX_VALUE : 200);
        JsonNode verify = json("kiln/verify.json");
        assertThat(verify.path("passed").asBoolean()).isTrue();
        assertThat(verify.path("bitExact").asBoolean() || archive.equals("v6")).isTrue();
        assertThat(verify.path("cases")).hasSize(cases);
        assertThat(Files.readAllBytes(folder.resolve("out/net-mlf.tar"))).isEqualTo(Files.readAllBytes(file));
        assertThat(said).noneMatch(line -> line.contains("warning"));
    }

    @Test
    void kernelsForAnotherCoreAreNamedBeforeTheyAreCompiled() throws IOException {
        Path file = TvmArchive.of("dsp").save(folder.resolve("net.tar"));
        TvmArchive.vectors("dsp", folder.resolve("vectors"));
        for (String board : List.of("microbit", "host", "qemu-riscv32")) {
            assertThatThrownBy(() -> flow.generate(spec(board, board.equals("host") ? board : "clang", file)))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(
                            "the C of model `left` needs Arm's DSP instructions (__pkhbt, __smlad, __sxtb16)")
                    .hasMessageContaining("it was made for `c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=nrf52840`")
                    .hasMessageContaining("C for board " + board)
                    .hasMessageNotContaining("arm_acle");
        }
        Path own = folder.resolve("src/main/c/include/arm_acle.h");
        Files.createDirectories(own.getParent());
        Files.writeString(own, "");
        flow.generate(spec("microbit", "clang", file));
    }

    @Test
    void theReportSaysWhatTheArchiveTells() throws IOException {
        assumeRunnable("mps2-an386", "gnu");
        Path file = TvmArchive.of("v5").save(folder.resolve("net.tar"));
        TvmArchive.vectors("v5", folder.resolve("vectors"));
        BuildSpec spec = spec("mps2-an386", "gnu", file);
        flow.build(spec, DeviceSpec.USUAL);

        JsonNode report = json("kiln/report.json");
        assertThat(report.path("model").asText()).isEqualTo("net.tar");
        assertThat(report.path("name").asText()).isEqualTo("default");
        assertThat(report.path("target").asText()).endsWith("-model=nrf52840");
        // 320 bytes and an alignment's worth for each of three blocks.
        assertThat(report.at("/ram/workspace").asLong()).isEqualTo(320 + 3 * 16);
        assertThat(report.at("/plan/bytes").asLong()).isEqualTo(320);
        assertThat(report.path("operators").findValuesAsText("name"))
                .contains("tvmgen_default_fused_reshape_cast_subtract");
        assertThat(text("firmware/Makefile")).contains("FOREIGN_FLAGS := ").contains("$(FOREIGN_FLAGS)");

        flow.profile(spec);
        JsonSchemas.assertFits("profile", text("kiln/profile.json"));
        assertThat(json("kiln/profile.json").path("instructions").asLong()).isPositive();

        said.clear();
        flow.build(spec, DeviceSpec.USUAL);
        assertThat(said).contains("Generating C: nothing changed", "Verifying: nothing changed");
    }

    @Test
    void aWrongAnswerIsSeen() throws IOException {
        assumeRunnable("host", "host");
        Path file = TvmArchive.of("v1").save(folder.resolve("net.tar"));
        TvmArchive.vectors("v1", folder.resolve("vectors"));
        Path output = folder.resolve("vectors/output_1.bin");
        byte[] changed = Files.readAllBytes(output);
        changed[3]++;
        Files.write(output, changed);

        assertThatThrownBy(() -> flow.build(spec("host", "host", file), DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("vector_1: 1 of 8 outputs differ")
                .hasMessageContaining("output[3] is -17 instead of -16");
    }

    @Test
    void anArchiveReachesNothingOfThisComputerUnlessItIsTrusted() throws IOException {
        assumeRunnable("host", "host");
        Path mark = folder.resolve("mark");
        String begin = "global_workspace_3_var) {\n";
        Path file = TvmArchive.of("v6")
                .replacing(
                        "codegen/host/src/default_lib1.c",
                        begin,
                        begin + "  extern int system(const char*);\n  system(\"touch " + mark + "\");\n")
                .save(folder.resolve("net.tar"));
        TvmArchive.vectors("v6", folder.resolve("vectors"));
        BuildSpec spec = spec("host", "host", file);
        assertThatThrownBy(() -> flow.build(spec, DeviceSpec.USUAL)).isInstanceOf(KilnException.class);
        assertThat(mark).doesNotExist();

        write("src/main/c/main.c", "int main(void) { return 0; }\n");
        assertThatThrownBy(() -> flow.run(spec, new RunSpec(Duration.ofSeconds(20), Optional.empty())))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the project's own main would run untrusted code on this computer")
                .hasMessageContaining("<trustArchive>sha256:");
        Files.delete(folder.resolve("src/main/c/main.c"));

        String digest = "sha256:" + Digests.sha256(Files.readAllBytes(file));
        flow.build(trusting(spec, TrustedArchives.parse(digest)), DeviceSpec.USUAL);
        assertThat(mark).exists();
    }

    @Test
    void anArchiveNeedsVectorsWithOutputs() throws IOException {
        assumeRunnable("host", "host");
        Path file = TvmArchive.of("v5").save(folder.resolve("net.tar"));
        BuildSpec spec = spec("host", "host", file, "default");
        TvmArchive.vectors("v5", folder.resolve("vectors"));
        Files.delete(folder.resolve("vectors/output_0.bin"));
        assertThatThrownBy(() -> flow.build(spec, DeviceSpec.USUAL))
                .hasMessageContaining("vectors, vector_0: the test vector has no outputs")
                .hasMessageContaining("output_0.bin");
        BuildSpec without = withVerify(spec, new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 2, 0));
        assertThatThrownBy(() -> flow.build(without, DeviceSpec.USUAL))
                .hasMessageContaining("the expected outputs of model `default` are unknown")
                .hasMessageContaining("kiln.verify.on to none");
        flow.build(withVerify(spec, new VerifySpec(VerifyOn.NONE, Optional.empty(), 2, 0)), DeviceSpec.USUAL);
    }

    @Test
    void namesAndShapesOfAnArchiveStayAsTheyAre() {
        Path file = TvmArchive.of("v7").save(folder.resolve("net.tar"));
        TvmArchive.vectors("v7", folder.resolve("vectors"));
        assertThatThrownBy(() -> flow.generate(spec("host", "host", file, "gamma")))
                .hasMessageContaining("net.tar: there is no model `gamma`; expected one of alpha, beta")
                .hasMessageContaining("remove kiln.name");
        assertThatThrownBy(
                        () -> flow.generate(spec("host", "host", List.of(new ModelSource(file, "beta", "data:1,6")))))
                .hasMessageContaining("kiln.inputShapes is given for an archive");
        Path twin = TvmArchive.of("v7").save(folder.resolve("twin.tar"));
        assertThatThrownBy(() -> flow.generate(
                        spec("host", "host", List.of(new ModelSource(file, "default"), new ModelSource(twin, "beta")))))
                .hasMessageContaining("two models are named `beta`");
    }

    @Test
    void inspectingShowsWhatIsInAnArchiveAndWhyItCannotBeUsed() {
        Path good = TvmArchive.of("v7").save(folder.resolve("net.tar"));
        flow.inspect(spec("host", "host", good), Optional.empty(), GivenInputs.NONE);
        assertThat(said)
                .contains(
                        "Interface of alpha: kiln.io=caller",
                        "  input  x:0 uint8[1, 6]",
                        "  input  state int32[1, 6]",
                        "Interface of beta: kiln.io=workspace",
                        "  output output1 int16[1, 5]")
                .anyMatch(line -> line.contains("tvmgen_beta_fused_nn_relu"));

        said.clear();
        Path graph = TvmArchive.of("v6")
                .replacing("metadata.json", "\"aot\"", "\"vm\"")
                .save(folder.resolve("graph.tar"));
        flow.inspect(spec("host", "host", good), Optional.of(graph), GivenInputs.NONE);
        assertThat(said)
                .contains("firmware cannot be built from it:")
                .anyMatch(line -> line.contains("`executors` is [\"vm\"]; expected \"aot\" or \"graph\" among them"));
    }
}
