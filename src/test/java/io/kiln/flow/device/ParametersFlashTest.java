// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ExecutorKind;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CallOptions;
import io.kiln.device.flash.TestOpenOcd;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.lite.schema.BuiltinOperator;

/** Parameters of a graph in flash sectors of their own: flashed by OpenOCD without the rest, and checked by the image. */
final class ParametersFlashTest {
    private static final int OWN_SECTORS = 0x80000;
    private static final String BOARD = "virtual-stm32f405";

    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @Test
    void parametersAreFlashedByThemselves() throws IOException {
        TestOpenOcd.get();
        TestPrograms.need("qemu-system-arm");
        flow.buildAndFlash(spec(1, false), FlashSpec.USUAL);
        flow.verify(spec(1, false), asItIs());
        byte[] first = held();

        // Other weights, the same graph.
        flow.buildAndFlash(spec(3, false), parameters());
        flow.verify(spec(3, false), asItIs());
        byte[] second = held();
        assertThat(head(second)).isEqualTo(head(first));
        assertThat(second).isNotEqualTo(first);
        assertThat(log.said()).anyMatch(line -> line.startsWith("Flashing the parameters of net.elf ("));

        // Another graph: the image that is on the board refuses its parameters.
        flow.buildAndFlash(spec(3, true), parameters());
        assertThat(head(held())).isEqualTo(head(first));
        assertThatThrownBy(() -> flow.verify(spec(3, true), asItIs()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the model returned error 2051");
        assertThat(folder.resolve("out/kiln/verify.log"))
                .content()
                .contains("kiln: parameters: those in flash belong to another graph");
    }

    @Test
    void onlyParametersThatHaveSectorsOfTheirOwnAreFlashed() {
        TestOpenOcd.get();
        BuildSpec linked = builder(1, false)
                .calls(CallOptions.TYPED.with(ExecutorKind.GRAPH, true))
                .build();
        assertThatThrownBy(() -> flow.buildAndFlash(linked, parameters()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the image has no parameters of its own")
                .hasMessageContaining("-Dkiln.linkParams=false");
        assertThatThrownBy(() -> flow.buildAndFlash(
                        SpecDraft.of(linked).board("nucleo-f446re").build(), parameters()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the board nucleo-f446re has no flash sectors for parameters alone");
        assertThatThrownBy(() -> FlashSpec.Content.of(true, "weights"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.flash.only is `weights`");
    }

    private byte[] held() throws IOException {
        return Files.readAllBytes(folder.resolve("out/kiln/virtual/virtual.bin"));
    }

    private static byte[] head(byte[] flash) {
        return Arrays.copyOf(flash, OWN_SECTORS);
    }

    private static FlashSpec parameters() {
        return SpecDraft.flash(Optional.empty(), FlashSpec.Content.of(true, "parameters"));
    }

    private static DeviceSpec asItIs() {
        return new DeviceSpec(FlashSpec.USUAL, false, ConsoleSpec.OF_BOARD);
    }

    private BuildSpec spec(int weight, boolean isLimited) {
        return builder(weight, isLimited).build();
    }

    private SpecDraft builder(int weight, boolean isLimited) {
        Path model = folder.resolve("net.tflite");
        WholeFiles.write(model, model(weight, isLimited));
        return SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "net"),
                        List.of(new ModelSource(model, "default")),
                        BOARD)
                .toolchain(Optional.of("clang"))
                .calls(CallOptions.TYPED.with(ExecutorKind.GRAPH, false))
                .verify(new VerifySpec(VerifyOn.BOARD, Optional.empty(), 2, 0));
    }

    /** A layer of 8 inputs and 4 outputs. */
    private static byte[] model(int weight, boolean isLimited) {
        byte[] weights = new byte[32];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = (byte) (weight * (i % 7 - 3));
        }
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int x = builder.tensor(TensorSpec.int8("x", 0.5f, 0, 1, 8));
        int w = builder.tensor(TensorSpec.int8("w", 0.25f, 0, 4, 8).withData(weights));
        int y = builder.tensor(TensorSpec.int8("y", 1f, 0, 1, 4));
        return builder.operator(
                        BuiltinOperator.FULLY_CONNECTED,
                        1,
                        Options.fullyConnected((byte) (isLimited ? 1 : 0), false),
                        new int[] {x, w, -1},
                        y)
                .inputs(x)
                .outputs(y)
                .build();
    }
}
