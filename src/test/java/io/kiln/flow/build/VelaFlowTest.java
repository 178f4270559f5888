// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.RecordingLog;
import io.kiln.flow.Flow;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.resolve.VelaProgram;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec.VelaSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.tflite.VelaModel;
import io.kiln.process.TestPrograms;
import io.kiln.reference.SharedFolder;
import io.kiln.report.NpuReport.VelaRun;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Builds that run Vela first. Vela itself is a Python package that no test installs: a program with its command line stands in for it and leaves
 * files that Vela made, or files of these tests.
 */
class VelaFlowTest {
    private static final String NPU = "ethos-u55-128";

    /** Answers as Vela does: its version; or a model, a table and text about operators, from files beside it. */
    private static final String PROGRAM = """
        #!/bin/sh
        here=$(dirname "$0")
        if [ "$1" = --version ]; then cat "$here/version"; exit 0; fi
        echo "$@" >> "$here/runs"
        [ -f "$here/before" ] && . "$here/before"
        name=${1%.tflite}
        test -f "$1" || exit 2
        while [ "$1" != --output-dir ]; do shift; done
        mkdir -p "$2"
        cp "$here/$name.result" "$2/${name}_vela.tflite"
        echo "experiment,network,inference_time,sram_memory_used,cycles_total,dram_memory_used" > "$2/${name}_summary_S.csv"
        echo "default,$name,0.00025,12.5,125000.0,nan" >> "$2/${name}_summary_S.csv"
        echo "Warning: MAX_POOL_2D 'pooled' is not supported on the NPU. Placing on CPU instead"
        echo " - Stride values for both width and height must be in the range [1, 1]"
        echo "   Op has stride 2"
        echo "Network summary for $name"
        """;

    @TempDir
    private Path folder;

    private final RecordingLog log = new RecordingLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(Log.QUIET));
    private Path bin;

    @BeforeEach
    void install() throws IOException {
        bin = folder.resolve("bin");
        WholeFiles.writeProgram(bin.resolve("vela"), PROGRAM.getBytes(StandardCharsets.UTF_8));
        Files.writeString(bin.resolve("version"), "3.10.0\n");
        WholeFiles.write(
                bin.resolve("mixed.result"), VelaModel.mixed(VelaModel.U55_128).build());
        WholeFiles.write(folder.resolve("plain.tflite"), VelaModel.original().build());
    }

    /** What the interpreter answers to the models that Vela was given is what the images of its files answer. */
    @Test
    @Tag(SharedFolder.TAG)
    void modelsAreCompiledAndVerifiedAgainstThemselves() throws IOException {
        TestPrograms.need("qemu-system-arm");
        List<ModelSource> models = new ArrayList<>(List.of(new ModelSource(folder.resolve("plain.tflite"), "mixed")));
        if (SharedFolder.find("ethosu").isPresent()
                && SharedFolder.find("golden").isPresent()) {
            Path vela = SharedFolder.find("ethosu").orElseThrow().resolve("hello_world_int8-u55-128.tflite");
            Files.copy(vela, bin.resolve("hello.result"));
            models.add(new ModelSource(
                    SharedFolder.find("golden").orElseThrow().resolve("hello_world_int8/model.tflite"), "hello"));
        }
        flow.build(draft(models).build(), DeviceSpec.USUAL);
        JsonNode verify = json("kiln/verify.json");
        assertThat(verify.path("bitExact").asBoolean()).isTrue();
        assertThat(verify.path("cases")).hasSize(2 * models.size());
        JsonNode npu = json("kiln/report.json").path("models").get(0).path("npu");
        JsonNode vela = npu.path("vela");
        assertThat(vela.path("version").asText()).isEqualTo("3.10.0");
        assertThat(vela.path("arguments").toString())
                .isEqualTo("[\"mixed.tflite\",\"--accelerator-config\",\"ethos-u55-128\",\"--output-dir\",\"out\","
                        + "\"--config\",\"Arm/vela.ini\",\"--system-config\",\"Ethos_U55_High_End_Embedded\","
                        + "\"--memory-mode\",\"Shared_Sram\"]");
        assertThat(vela.path("stayed").toString())
                .isEqualTo(
                        "[\"MAX_POOL_2D 'pooled' is not supported on the NPU. Placing on CPU instead: Stride values for"
                                + " both width and height must be in the range [1, 1]; Op has stride 2\"]");
        assertThat(vela.path("estimates").toString())
                .isEqualTo("{\"cycles\":125000.0,\"milliseconds\":0.25,\"sramKiB\":12.5}");
        assertThat(npu.path("onNpu").toString())
                .isEqualTo("{\"operators\":2,\"macs\":0,\"constantBytes\":" + npu.at("/onNpu/constantBytes")
                        + ",\"memoryBytes\":512}");
        assertThat(npu.path("onCore").toString())
                .isEqualTo("{\"operators\":1,\"macs\":0,\"constantBytes\":0,\"memoryBytes\":32}");
        assertThat(BuildPage.file(new Layout(folder, folder.resolve("out"), "m")))
                .content()
                .contains(
                        "Model mixed: none of the MACs on the NPU, in 2 parts.",
                        "estimated by Vela 3.10.0, not measured");
        assertThat(log.take())
                .contains("Model mixed: estimated by Vela 3.10.0, not measured: {cycles=125000.0, milliseconds=0.25,"
                        + " sramKiB=12.5}")
                .anyMatch(line ->
                        line.matches("Model mixed: the NPU's parts take \\d+ bytes of constants and 512 of memory, the"
                                + " core's operators 0 and 32"));
    }

    /** Each of what a result depends on; between them, nothing runs. */
    @Test
    void aResultHoldsUntilModelOptionsOrVersionChange() throws IOException {
        BuildSpec spec = draft().build();
        generate(spec);
        generate(spec);
        assertThat(runs()).hasSize(1);
        Files.writeString(bin.resolve("version"), "Some warning of Python's\n3.11.0\n");
        log.take();
        generate(spec);
        assertThat(runs()).hasSize(2);
        assertThat(log.take()).anyMatch(line -> line.contains("changed from '3.10.0' to '3.11.0'"));
        generate(draft().optimize("ram").build());
        assertThat(runs()).hasSize(3).last().asString().contains("--optimise Size");
        WholeFiles.write(
                folder.resolve("plain.tflite"),
                VelaModel.original().metadata("new", Bytes.wrap(new byte[1])).build());
        generate(draft().optimize("ram").build());
        generate(draft().optimize("ram").build());
        assertThat(runs()).hasSize(4);
    }

    /** A configuration file that is the board's lies beside the model; another NPU than the board's knows nothing of the board's memories. */
    @Test
    void theBoardSaysWhatMemoriesThereAre() throws IOException {
        Path board = folder.resolve("src/main/boards/my-board");
        WholeFiles.write(board.resolve("own.ini"), "[System_Config.Mine]\n");
        WholeFiles.write(board.resolve("board.yaml"), """
            schema: 1
            id: my-board
            title: A board with an NPU
            extends: virtual-corstone-300
            npu:
              kind: ethos-u55
              macs: 128
              base: 0x48102000
              model: true
              vela: {config: own.ini, systemConfig: Mine, memoryMode: Own_Mode}
            """);
        Files.writeString(bin.resolve("before"), "cp own.ini \"$here/seen.ini\"\n");
        generate(draft().board("my-board").build());
        assertThat(runs())
                .hasSize(1)
                .last()
                .asString()
                .endsWith("--config own.ini --system-config Mine --memory-mode Own_Mode");
        assertThat(bin.resolve("seen.ini")).hasContent("[System_Config.Mine]");
        WholeFiles.write(board.resolve("own.ini"), "[System_Config.Mine]\ncore_clock=1e6\n");
        generate(draft().board("my-board").build());
        assertThat(runs()).hasSize(2);
        WholeFiles.write(
                bin.resolve("mixed.result"), VelaModel.mixed(VelaModel.U55_256).build());
        Files.delete(bin.resolve("before"));
        generate(draft().board("my-board")
                .codegens(new CodegenSpec(
                                Optional.of("ethos-u -accelerator_config=ethos-u55-256, c -mcpu=cortex-m55"),
                                Optional.empty())
                        .with(Optional.of(spec("ethos-u55-256", Optional.empty()))))
                .build());
        assertThat(runs()).hasSize(3).last().asString().doesNotContain("--config");
    }

    @Test
    void everythingWrongIsSaidBeforeVelaRuns() {
        BuildSpec spec = draft(List.of(
                        new ModelSource(folder.resolve("plain.tflite"), "mixed", "x:1,4,4,8"),
                        new ModelSource(relay(), "other")))
                .codegens(
                        CodegenSpec.BOARD.with(Optional.of(new VelaSpec("ethos-u55-256", "no-vela", Optional.empty()))))
                .build();
        assertThatThrownBy(() -> flow.resolve(spec))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.npu is ethos-u55-256, and the NPU of the target is ethos-u55-128")
                .hasMessageContaining("both kiln.npu and kiln.inputShapes are given")
                .hasMessageContaining("Vela cannot read the model")
                .hasMessageContaining("Vela, which kiln.npu asks for, is not installed")
                .hasMessageContaining("pip install ethos-u-vela");
        refused(draft().board("mps3-an547"), "and the NPU of the target is none");
        refused(
                draft().codegens(CodegenSpec.BOARD.with(Optional.of(spec("ethos-u77", Optional.empty())))),
                "one of ethos-u55-32");
        refused(
                draft().codegens(CodegenSpec.BOARD.with(Optional.of(spec(NPU, Optional.of("3.9.0"))))),
                "Vela is version 3.10.0");
        assertThat(bin.resolve("runs")).doesNotExist();
    }

    /** What Vela leaves is a stranger's file: nothing of it is taken unless it is a model for this NPU. */
    @Test
    void whatVelaDoesWrongIsSaid() throws IOException {
        Files.writeString(bin.resolve("version"), "no version\n");
        refused(draft(), "Vela does not say which version it is: no version");
        Files.writeString(bin.resolve("version"), "3.10.0\n");
        Files.writeString(bin.resolve("before"), "echo 'Error: Invalid arguments' >&2; exit 1\n");
        refused(draft(), "Vela failed with exit code 1: Error: Invalid arguments");
        Files.writeString(bin.resolve("before"), "exit 0\n");
        refused(draft(), "Vela ended without the file that it should have written");
        Files.writeString(bin.resolve("before"), "mkdir out; ln -s /etc/passwd out/mixed_vela.tflite; exit 0\n");
        refused(draft(), "Vela ended without the file that it should have written");
        Files.writeString(bin.resolve("before"), "");
        Files.writeString(bin.resolve("mixed.result"), "no model");
        refused(draft(), "mixed_vela.tflite");
        WholeFiles.write(
                bin.resolve("mixed.result"), VelaModel.mixed(VelaModel.U55_256).build());
        refused(draft(), "Vela compiled the model for an ethos-u55-256");
        Files.copy(folder.resolve("plain.tflite"), bin.resolve("mixed.result"), StandardCopyOption.REPLACE_EXISTING);
        generate(draft().build());
        assertThat(log.takeWarnings()).anyMatch(line -> line.contains("Vela left all operators of mixed on the core"));
        Files.writeString(bin.resolve("before"), "sleep 600\n");
        Files.delete(folder.resolve("out/kiln/npu/plain_vela.tflite"));
        assertThatThrownBy(() -> new VelaStep(
                                log, new Resolver(TestToolchains.environment(Log.QUIET)).resolve(draft().build()))
                        .compiled(
                                spec(NPU, Optional.empty()),
                                new VelaProgram(bin.resolve("vela"), Duration.ofMillis(300))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("Vela did not end within 0 s and was stopped");
        assertThat(TestPrograms.left()).isEmpty();
    }

    /** Values that are no numbers, tables that are too large or none, texts without end. */
    @Test
    void whatVelaSaysIsBounded() throws IOException {
        Path out = folder.resolve("said");
        WholeFiles.write(out.resolve("a_summary_b.csv"), "cycles_total,inference_time,x\n1e400,-5,7\n");
        String endless = "Info: A 'b' is a CPU only op\n - " + "z".repeat(1000) + "\n";
        VelaRun run = VelaStep.run("1.0", List.of(), endless.repeat(300), out);
        assertThat(run.estimates()).isEqualTo(Map.of());
        assertThat(run.stayed())
                .hasSize(200)
                .allSatisfy(text -> assertThat(text).hasSizeLessThan(500));
        WholeFiles.write(out.resolve("a_summary_b.csv"), "cycles_total\n" + "1".repeat(70_000) + "\n");
        assertThat(VelaStep.run("1.0", List.of(), "", out).estimates()).isEmpty();
    }

    private void refused(SpecDraft draft, String message) {
        assertThatThrownBy(() -> generate(draft.build()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(message);
    }

    private void generate(BuildSpec spec) {
        flow.generate(spec, false);
    }

    private List<String> runs() throws IOException {
        return Files.readAllLines(bin.resolve("runs"));
    }

    private Path relay() {
        Path file = folder.resolve("other.relay");
        WholeFiles.write(file, "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(1), int8]) { %x }\n");
        return file;
    }

    private VelaSpec spec(String npu, Optional<String> version) {
        return new VelaSpec(npu, bin.resolve("vela").toString(), version);
    }

    private SpecDraft draft() {
        return draft(List.of(new ModelSource(folder.resolve("plain.tflite"), "mixed")));
    }

    private SpecDraft draft(List<ModelSource> models) {
        return SpecDraft.of(new Layout(folder, folder.resolve("out"), "m"), models, "virtual-corstone-300")
                .toolchain(Optional.of("clang"))
                .codegens(CodegenSpec.BOARD.with(Optional.of(spec(NPU, Optional.empty()))))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 2, 0));
    }

    private JsonNode json(String file) throws IOException {
        return new ObjectMapper().readTree(folder.resolve("out").resolve(file).toFile());
    }
}
