// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ExecutorKind;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.compile.CallOptions;
import io.kiln.device.emulator.Emulator;
import io.kiln.flow.Flow;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.frontend.tflite.VelaModel;
import io.kiln.ir.Binding;
import io.kiln.ir.op.call.EthosU;
import io.kiln.npu.DriverPayload;
import io.kiln.npu.NpuOperation;
import io.kiln.npu.NpuOperations;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An operator that computes something else than it should is named, and no other. */
final class CompareLayersTest {
    /** A byte of weights that still decode when its lowest bit is another. */
    private static final int BYTE = 20;

    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @Test
    void theFirstWrongOperatorIsNamed() throws IOException {
        BuildSpec spec = spec().application("rpc")
                .calls(CallOptions.TYPED.with(ExecutorKind.GRAPH, true))
                .build();
        flow.compareLayers(spec);
        assertThat(log.said())
                .anyMatch(line -> line.startsWith("Model default: all ")
                        && line.endsWith(" values of 12 operators are those of the reference interpreter"));

        // As a flash would be that lost bits of a weight: one table of the sixth operator of twelve.
        String sixth = operator(Files.readString(folder.resolve("out/firmware/codegen/host/src/default_lib1.c")), 6);
        damage(folder.resolve("out/net.elf"), sixth);
        ResolvedBuild build = new Resolver(TestToolchains.environment(log)).resolve(spec);
        assertThatThrownBy(() -> new CompareLayersStep(log, build, TestToolchains.environment(log)).run())
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the first wrong operator: ")
                .hasMessageContaining("] is ")
                .hasMessageContaining(" instead of ")
                .hasMessageContaining(" of 8000 values are wrong")
                .hasMessageContaining(sixth + " (#");
    }

    /**
     * A model of our own as Vela leaves it: what is broken is a limit in the commands of the second operation. One that Vela made of weights: a
     * byte of them.
     */
    @Test
    void theFirstWrongOperationOfAnNpuIsNamed() throws IOException {
        Path file = folder.resolve("mixed.tflite");
        WholeFiles.write(file, VelaModel.mixed(VelaModel.U55_128).build());
        Path original = folder.resolve("plain.tflite");
        WholeFiles.write(original, VelaModel.original().build());
        assertThatThrownBy(() -> comparedAfter(file, original, new byte[] {0x27, 0x01, 5, 0}, 2, 6))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(
                        "the first wrong operation of the NPU: operation `2 pool 0 region 1 base0 256 4x4x8 s8` of"
                                + " part 1")
                .hasMessageContaining("whose values are not those of layer")
                .hasMessageContaining("`b`");
        assertThat(log.said())
                .contains("Model default: what 3 operations of the NPU lead to is the answer of plain.tflite");
    }

    @Test
    @NeedsShared({"ethosu", "golden"})
    void aBrokenWeightShowsInItsOperation() throws IOException {
        Path file = SharedFolder.need("ethosu").resolve("hello_world_int8-u55-128.tflite");
        byte[] weights = weights(file, 1);
        assertThatThrownBy(() ->
                        comparedAfter(file, GoldenModels.model("hello_world_int8"), weights, BYTE, weights[BYTE] ^ 1))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(
                        "the first wrong operation of the NPU: operation `2 conv region 1 base0 0 1x1x16 s8` of part"
                                + " 1");
        assertThat(log.said())
                .contains("Model default: what 3 operations of the NPU lead to is the answer of model.tflite");
    }

    /** The weights that an operation of the only part reads. */
    private static byte[] weights(Path file, int operation) {
        Binding part = TfliteFrontend.read(file, "m").bindings().get(0);
        int payload = ((EthosU) part.op()).payload();
        NpuOperation.Access weights = NpuOperations.of(DriverPayload.read(
                        part.constant(payload).data(), (what, expected) -> new IllegalStateException(what)))
                .get(operation)
                .accesses()
                .stream()
                .filter(access -> access.what().equals("weights"))
                .findFirst()
                .orElseThrow();
        return Arrays.copyOfRange(
                part.constant(payload + 1).data().toArray(), (int) weights.first(), (int) weights.end());
    }

    /** Compares a model, then once more with a byte of the image changed. */
    private void comparedAfter(Path file, Path original, byte[] place, int index, int value) throws IOException {
        BuildSpec spec = SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "net"),
                        List.of(new ModelSource(file, "default")),
                        "virtual-corstone-300")
                .verify(new VerifySpec(
                        VerifyOn.EMULATOR,
                        Optional.empty(),
                        1,
                        0,
                        VerifySpec.USUAL_PROGRAM,
                        VerifyOver.CONSOLE,
                        Optional.of(original)))
                .build();
        flow.compareLayers(spec);
        Path image = folder.resolve("out/net.elf");
        byte[] bytes = Files.readAllBytes(image);
        int at = IntStream.rangeClosed(0, bytes.length - place.length)
                .filter(i -> Arrays.equals(bytes, i, i + place.length, place, 0, place.length))
                .findFirst()
                .orElseThrow();
        bytes[at + index] = (byte) value;
        Files.write(image, bytes);
        ResolvedBuild build = new Resolver(TestToolchains.environment(log)).resolve(spec);
        new CompareNpuStep(log, build).compare(image, Emulator.of(build.requireRunsOn(), Duration.ofMinutes(2)));
    }

    @Test
    void itNeedsAnImageThatCanBeDrivenOperatorByOperator() {
        BuildSpec spec = spec().build();
        assertThatThrownBy(() -> flow.compareLayers(spec))
                .hasMessageContaining("Set -Dkiln.executor=graph -Dkiln.application=rpc");
    }

    /** Changes the weights of an operator in the image: its largest table. */
    private static void damage(Path image, String operator) throws IOException {
        ElfFile elf = ElfFile.read(image);
        ElfFile.Symbol table = elf.symbols().stream()
                .filter(symbol -> symbol.isObject() && symbol.name().startsWith(operator + "_"))
                .max(Comparator.comparingLong(ElfFile.Symbol::size))
                .orElseThrow();
        ElfFile.Section section = elf.sections().get(table.section());
        byte[] all = Files.readAllBytes(image);
        int first = (int) (section.offset() + table.value() - section.address());
        for (int i = first; i < first + table.size() / 2; i++) {
            all[i] ^= 0x55;
        }
        Files.write(image, all);
    }

    private static String operator(String text, int number) {
        List<String> names = text.lines()
                .filter(line -> line.startsWith("TVM_DLL int32_t ") && line.endsWith("{"))
                .map(line -> line.substring("TVM_DLL int32_t ".length(), line.indexOf('(')))
                .toList();
        return names.get(number - 1);
    }

    private SpecDraft spec() {
        return SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "net"),
                        List.of(new ModelSource(OwnModel.KEYWORDS.model(), "default")),
                        "mps2-an386")
                .toolchain(Optional.of("clang"));
    }
}
