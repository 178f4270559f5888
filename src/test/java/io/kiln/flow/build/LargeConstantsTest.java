// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Log;
import io.kiln.base.elf.ElfFile;
import io.kiln.firmware.TrustedArchives;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.process.TestPrograms;
import io.kiln.reference.OwnModel;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/** Models whose constants do not fit in the first memory of constants, on a board with a further one. */
class LargeConstantsTest {
    private static final int INPUTS = 1024;
    private static final int WIDE = 2100;
    private static final int OUTPUTS = 10;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"clang", "gnu"})
    void constantsThatDoNotFitLieInTheSecondMemory(String toolchain) throws IOException {
        TestPrograms.need("qemu-system-arm");
        Path model = Files.write(folder.resolve("large.tflite"), model());
        BuildSpec spec = SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "large"),
                        List.of(new ModelSource(model, "large")),
                        "mps3-an547")
                .toolchain(Optional.of(toolchain))
                .mlfVersion(5)
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0))
                .build();

        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).build(spec, DeviceSpec.USUAL);

        assertThat(json("verify").path("bitExact").asBoolean()).isTrue();
        JsonNode flash = json("report").path("flash");
        assertThat(flash.path("constants").asLong()).isGreaterThan(INPUTS * WIDE + WIDE * OUTPUTS);
        assertThat(flash.path("available").asLong()).isEqualTo((512 << 10) + (2 << 20) + (256 << 20));
        assertThat(ElfFile.read(folder.resolve("out/large.elf")).sections())
                .filteredOn(section -> section.name().equals(".rodata.more"))
                .singleElement()
                .satisfies(section -> {
                    assertThat(section.address()).isEqualTo(0x60000000L);
                    assertThat(section.size()).isGreaterThanOrEqualTo(INPUTS * WIDE);
                });
    }

    /** What is read most often lies in the first memory, with C and with objects, and in an archive that is built again. */
    @ParameterizedTest
    @ValueSource(strings = {"c", "llvm"})
    void theHotPartStaysInTheFirstMemory(String target) throws IOException {
        TestPrograms.need("qemu-system-arm");
        build(OwnModel.VISION.source(), target, "out");
        new HotConstants(json("report"), ElfFile.read(folder.resolve("out/net.elf")))
                .assertLieBelow(0x60000000L, 64 << 10);
        assertThat(json("verify").path("bitExact").asBoolean()).isTrue();

        Path archive = Files.move(folder.resolve("out/net-mlf.tar"), folder.resolve("vision.tar"));
        build(new ModelSource(archive, "vision"), "", "again");
        assertThat(bytesOfTheFurtherMemory("again")).isPositive().isEqualTo(bytesOfTheFurtherMemory("out"));
    }

    private long bytesOfTheFurtherMemory(String out) {
        return ElfFile.read(folder.resolve(out + "/net.elf")).sections().stream()
                .filter(section -> section.name().equals(".rodata.more"))
                .mapToLong(ElfFile.Section::size)
                .sum();
    }

    private void build(ModelSource model, String target, String out) {
        BuildSpec spec = SpecDraft.of(new Layout(folder, folder.resolve(out), "net"), List.of(model), "mps3-an547")
                .memory(Map.of("ssram", "64K"))
                .codegens(target.isEmpty() ? CodegenSpec.BOARD : new CodegenSpec(Optional.of(target), Optional.empty()))
                .trustedArchives(TrustedArchives.parse("vision.tar"))
                .verify(new VerifySpec(target.isEmpty() ? VerifyOn.NONE : VerifyOn.EMULATOR, Optional.empty(), 1, 0))
                .build();
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).build(spec, DeviceSpec.USUAL);
    }

    private JsonNode json(String name) throws IOException {
        return new ObjectMapper()
                .readTree(folder.resolve("out/kiln/" + name + ".json").toFile());
    }

    private static byte[] model() {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int input = model.tensor(TensorSpec.int8("input", 0.02f, -3, 1, INPUTS));
        int wide = layer(model, input, INPUTS, WIDE, "wide");
        return model.inputs(input)
                .outputs(layer(model, wide, WIDE, OUTPUTS, "scores"))
                .build();
    }

    private static int layer(TfliteModelBuilder model, int input, int from, int to, String name) {
        byte[] data = new byte[from * to];
        new Random(to).nextBytes(data);
        int weights = model.tensor(TensorSpec.of(name + "_weights", TensorType.INT8, to, from)
                .quantized(new float[] {0.001f}, new long[1], 0)
                .withData(data));
        int output = model.tensor(TensorSpec.int8(name, 0.05f, 0, 1, to));
        model.operator(
                BuiltinOperator.FULLY_CONNECTED,
                4,
                Options.fullyConnected(Options.NO_ACTIVATION, false),
                new int[] {input, weights, -1},
                output);
        return output;
    }
}
