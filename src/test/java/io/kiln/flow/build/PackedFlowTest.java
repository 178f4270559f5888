// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.firmware.TrustedArchives;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.mlf.TvmArchive;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import io.kiln.reference.SharedFolder;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Images whose models have the packed interface: Kiln's own, and those of archives that TVM wrote. */
final class PackedFlowTest {
    private static final Path GESTURE = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");

    @TempDir
    Path folder;

    private final List<String> said = new ArrayList<>();
    private final Flow flow = flow();

    /** Two models in one image share its system library; each of them is called in its own way of handing tensors to operators. */
    @ParameterizedTest
    @CsvSource({
        "host, host, false",
        "mps2-an386, clang, true",
        "mps2-an386, clang, false",
        "qemu-riscv32, clang, true",
        "qemu-riscv32, clang, false",
    })
    void modelsWithPackedFunctionsAnswerBitExact(String board, String toolchain, boolean unpacked) throws IOException {
        List<ModelSource> models = Stream.of(OwnModel.KEYWORDS, OwnModel.CODER, OwnModel.SINE)
                .map(OwnModel::source)
                .toList();
        BuildSpec spec = spec(board, toolchain, models)
                .calls(Optional.of("packed"), unpacked, Optional.of(true), false)
                .build();
        flow.build(spec, DeviceSpec.USUAL);

        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/verify.json").path("cases")).hasSize(3);
        JsonSchemas.assertFits("report", text("kiln/report.json"));
        assertThat(json("kiln/report.json").at("/calls/interfaceApi").asText()).isEqualTo("packed");
        assertThat(json("kiln/report.json").at("/calls/unpackedApi").asBoolean())
                .isEqualTo(unpacked);
        assertThat(json("kiln/report.json").at("/calls/systemLib").asBoolean()).isTrue();
        String library = text("generated-sources/kiln/codegen/host/src/lib0.c");
        assertThat(library).contains("tvmgen_keywords_run\\0", "tvmgen_coder_run\\0", "tvmgen_sine_run\\0");
        assertThat(library.contains("tvmgen_coder___tvm_main__\\0")).isEqualTo(!unpacked);
        assertThat(said).noneMatch(line -> line.contains("warning"));
    }

    @ParameterizedTest
    @CsvSource({
        "kws_ref_model, host, host",
        "kws_ref_model, mps2-an386, clang",
        "hello_world_int8, qemu-riscv32, clang",
    })
    @NeedsShared("tvm")
    void archivesOfTvmAnswerWhatTvmAnswers(String model, String board, String toolchain) throws IOException {
        Path tvm = SharedFolder.need("tvm");
        BuildSpec spec = spec(
                        board, toolchain, List.of(new ModelSource(tvm.resolve(model + "__aot_packed.tar"), "default")))
                .verify(vectors(tvm.resolve("vectors").resolve(model)))
                .build();
        flow.build(spec, DeviceSpec.USUAL);

        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/verify.json").path("cases")).hasSize(3);
        assertThat(json("kiln/report.json").at("/calls/interfaceApi").asText()).isEqualTo("packed");
    }

    /** What Kiln writes has no header either, so that reading takes the road of TVM's archives. */
    @Test
    void anArchiveOfKilnsOwnIsBuiltAgain() throws IOException {
        SpecDraft own = spec("host", "host", List.of(new ModelSource(GESTURE, "gesture")))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0))
                .calls(Optional.of("packed"), false, Optional.empty(), true);
        flow.build(own.build(), DeviceSpec.USUAL);
        Path archive = Files.copy(folder.resolve("out/net-mlf.tar"), folder.resolve("again.tar"));
        assertThat(ModelLibraryFormat.files(archive).keySet())
                .contains("codegen/host/src/gesture_lib0.c", "codegen/host/src/gesture_lib2.c")
                .noneMatch(path -> path.startsWith("codegen/host/include/"));
        assertThat(text("generated-sources/kiln/codegen/host/src/gesture_lib2.c"))
                .doesNotContain("kiln_check");

        flow.build(
                spec("host", "host", List.of(new ModelSource(archive, "default")))
                        .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                        .build(),
                DeviceSpec.USUAL);
        flow.inspect(own.build(), Optional.of(archive), GivenInputs.NONE);
        assertThat(said)
                .contains(
                        "Interface of gesture: kiln.io=caller, kiln.interfaceApi=packed, kiln.unpackedApi=false",
                        "  input  acceleration int8[1, 32, 1, 3]",
                        "  output gesture int8[1, 4]");
    }

    /** Each archive has a system library of its own, of which an image can have one. */
    @Test
    void modelsOfTwoArchivesShareOneSystemLibrary() throws IOException {
        List<ModelSource> archives = new ArrayList<>();
        for (String name : List.of("left", "right")) {
            SpecDraft own = spec("host", "host", List.of(new ModelSource(GESTURE, name)))
                    .calls(Optional.of("packed"), name.equals("left"), Optional.empty(), false);
            flow.generate(own.build());
            Path archive = folder.resolve(name + ".tar");
            Files.copy(folder.resolve("out/generated-sources/kiln/model-mlf.tar"), archive);
            archives.add(new ModelSource(archive, name));
        }
        flow.build(
                spec("host", "host", archives)
                        .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                        .build(),
                DeviceSpec.USUAL);
        assertThat(text("generated-sources/kiln/codegen/host/src/lib0.c"))
                .contains("tvmgen_left_run\\0", "tvmgen_right___tvm_main__\\0", "TVMSystemLibEntryPoint(void) {");
        assertThat(text("generated-sources/kiln/codegen/host/src/left_lib0.c"))
                .startsWith("#define TVMSystemLibEntryPoint tvmgen_left_TVMSystemLibEntryPoint\n");
    }

    /** The llvm target makes neither C nor an entry point: programs call the main function, which asks for memory. */
    @Test
    void objectCodeIsTakenIfItsArchiveIsTrusted() throws IOException {
        Files.writeString(folder.resolve("model.c"), """
            #include <tvm/runtime/c_backend_api.h>
            #include <string.h>
            int32_t tvmgen_default___tvm_main__(TVMValue* args, int* codes, int count, TVMValue* out, int* code, void* resource) {
              const DLTensor* x = args[0].v_handle;
              const DLTensor* y = args[1].v_handle;
              (void)out, (void)code, (void)resource;
              if (count != 2 || codes[1] != kTVMDLTensorHandle || x->ndim != 2 || y->ndim != 2 || y->shape[1] != 3) return -1;
              float* copy = TVMBackendAllocWorkspace(kDLCPU, 0, 16, kDLFloat, 32);
              if (copy == NULL) return -2;
              memcpy(copy, x->data, 16);
              memcpy(y->data, copy, 12);
              return TVMBackendFreeWorkspace(kDLCPU, 0, copy);
            }
            """);
        ProcessResult compiled = ProcessRunner.run(Command.of(
                        "cc",
                        List.of(
                                "-c",
                                "-fPIE",
                                "-I" + Path.of("src/main/resources/crt/include").toAbsolutePath(),
                                "model.c"))
                .in(folder));
        assertThat(compiled.succeeded()).as(compiled.message()).isTrue();
        Path archive = TvmArchive.of("v6")
                .without("codegen/")
                .with("codegen/host/lib/default_lib0.o", Bytes.wrap(Files.readAllBytes(folder.resolve("model.o"))))
                .replacing("metadata.json", "\"c -keys=cpu", "\"llvm -keys=cpu")
                .replacing("metadata.json", "\"io_size_bytes\": 28,", """
                    "io_size_bytes": 28, "inputs": {"serving_default_x:0": {"dtype": "float32", "size": 16}},
                    "outputs": {"output": {"dtype": "float32", "size": 12}},
                    """)
                .save(folder.resolve("net.tar"));
        Path vectors = Files.createDirectory(folder.resolve("vectors"));
        byte[] input = {0, 0, 0x20, 0x41, 1, 0, 0, 0x40, 0, 0, 0, 0x3F, 7, 0, 0, 0};
        Files.write(vectors.resolve("input_0.bin"), input);
        Files.write(vectors.resolve("output_0.bin"), Arrays.copyOf(input, 12));
        SpecDraft spec = spec("host", "host", List.of(new ModelSource(archive, "default")))
                .verify(vectors(vectors));
        assertThatThrownBy(() -> flow.build(spec.build(), DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("object code");

        flow.build(spec.trustedArchives(TrustedArchives.parse("net.tar")).build(), DeviceSpec.USUAL);
        assertThat(json("kiln/verify.json").path("passed").asBoolean()).isTrue();
        assertThat(json("kiln/report.json").path("target").asText()).startsWith("llvm");
    }

    @Test
    void whatDoesNotFitTogetherIsRefused() {
        SpecDraft spec = spec("host", "host", List.of(new ModelSource(GESTURE, "gesture")));
        assertThatThrownBy(() -> flow.generate(spec.calls(Optional.of("c"), true, Optional.of(true), false)
                        .build()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.systemLib is true with kiln.interfaceApi c");
        assertThatThrownBy(() -> flow.generate(spec("host", "host", List.of(new ModelSource(GESTURE, "gesture")))
                        .io("workspace")
                        .calls(Optional.of("packed"), true, Optional.empty(), false)
                        .build()))
                .hasMessageContaining("kiln.io is workspace with kiln.interfaceApi packed");
    }

    private SpecDraft spec(String board, String toolchain, List<ModelSource> models) {
        return SpecDraft.of(new Layout(folder, folder.resolve("out"), "net"), models, board)
                .toolchain(Optional.of(toolchain))
                .optimize(Optimize.SPEED)
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0));
    }

    private static VerifySpec vectors(Path folder) {
        return new VerifySpec(VerifyOn.EMULATOR, Optional.of(folder), 0, 0);
    }

    private Flow flow() {
        Log log = Log.of(said::add, line -> said.add("warning: " + line), line -> {});
        return new Flow(log, TestToolchains.environment(log));
    }

    private String text(String file) throws IOException {
        return Files.readString(folder.resolve("out").resolve(file));
    }

    private JsonNode json(String file) throws IOException {
        return new ObjectMapper().readTree(text(file));
    }
}
