// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.device.flash.TestOpenOcd;
import io.kiln.firmware.update.TestKeys;
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
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.flow.spec.UpdateSpec.Header;
import io.kiln.flow.spec.UpdateSpec.Models;
import io.kiln.flow.spec.UpdateSpec.Versions;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.lite.schema.BuiltinOperator;

/** Models in slots, flashed by OpenOCD without the firmware, and chosen by the image in QEMU. */
final class ModelFlashTest {
    private static final String BOARD = "virtual-stm32f405";
    private static final int KEY = 0x5a;
    private static final int FIRST = 0x80000;
    private static final int SECOND = 0xc0000;

    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    /** A model and its version. */
    private record Release(int weight, String version) {}

    @Test
    void modelsAreFlashedByThemselves() throws IOException {
        TestOpenOcd.get();
        TestPrograms.need("qemu-system-arm");
        flow.buildAndFlash(spec(new Release(1, "1.0.0")), FlashSpec.USUAL);
        byte[] first = held();
        assertThat(Arrays.copyOfRange(first, SECOND, first.length)).containsOnly(0xff);

        theSecretIsInNoFile();

        // Other weights, and so other code: into the free slot, and nothing else changes.
        flow.buildAndFlash(spec(new Release(3, "1.1.0")), models());
        byte[] second = held();
        assertThat(Arrays.copyOf(second, SECOND)).isEqualTo(Arrays.copyOf(first, SECOND));
        assertThat(log.said()).contains("virtual: models 1.1.0 in slot 2; version 1.0.0 stays in slot 1");

        // Power is lost inside the region: the models that run stay, and answer.
        assertThatThrownBy(() -> flow.buildAndFlash(spec(new Release(2, "1.2.0")), models("power-lost:300")))
                .isInstanceOf(KilnException.class)
                .hasMessageNotContaining("not bootable");
        assertThat(Arrays.copyOfRange(held(), FIRST, FIRST + 256))
                .isNotEqualTo(Arrays.copyOfRange(second, FIRST, FIRST + 256));
        answers(new Release(3, "1.1.0"));

        failsAlone();

        // The next flash repairs it.
        flow.buildAndFlash(spec(new Release(2, "1.2.0")), models());
        answers(new Release(2, "1.2.0"));
        byte[] third = held();
        assertThat(Arrays.copyOfRange(third, SECOND, third.length))
                .isEqualTo(Arrays.copyOfRange(second, SECOND, second.length));

        assertThatThrownBy(() -> flow.buildAndFlash(spec(new Release(1, "1.2.0")), models()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(
                        "the update is not for this device: its models have version 1.2.0, and version 1.2.0 runs");
        assertThat(held()).isEqualTo(third);
        try (Stream<Path> files = Files.list(folder.resolve("out"))) {
            assertThat(files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".update")))
                    .singleElement()
                    .asString()
                    .endsWith(".models-1.2.0.update");
        }
    }

    /** The private half of the key is written nowhere: neither its bytes nor a text of them. */
    private void theSecretIsInNoFile() throws IOException {
        byte[] secret = new byte[32];
        Arrays.fill(secret, (byte) KEY);
        List<String> texts = List.of(
                new String(secret, StandardCharsets.ISO_8859_1),
                HexFormat.of().formatHex(secret),
                HexFormat.ofDelimiter(", ").withPrefix("0x").formatHex(secret),
                Files.readAllLines(folder.resolve("key" + KEY + ".pem")).get(1));
        try (Stream<Path> files = Files.walk(folder.resolve("out"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
                        .as("%s", file)
                        .doesNotContain(texts.toArray(String[]::new));
            }
        }
    }

    /** A device that cannot be read is a failure of that device, as any other. */
    private void failsAlone() throws IOException {
        assertThatThrownBy(() -> flow.buildAndFlash(spec(new Release(2, "1.2.0")), models("wrong-tap-id:1")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the chip is not the one in the board")
                .hasMessageNotContaining("not bootable");
        assertThat(Files.readString(folder.resolve("out/kiln/flash.json")))
                .contains("\"failure\" : \"wrong-chip: ")
                .doesNotContain("interrupted");
    }

    /** The board, as it is, answers what the release's model says. */
    private void answers(Release release) {
        flow.generate(spec(release));
        flow.link(spec(release));
        flow.verify(spec(release), new DeviceSpec(FlashSpec.USUAL, false, ConsoleSpec.OF_BOARD));
    }

    private byte[] held() throws IOException {
        return Files.readAllBytes(folder.resolve("out/kiln/virtual/virtual.bin"));
    }

    private static FlashSpec models() {
        return SpecDraft.flash(Optional.empty(), FlashSpec.Content.of(true, "models"));
    }

    private static FlashSpec models(String faults) {
        FlashSpec usual = models();
        return new FlashSpec(
                usual.probe(), usual.tool(), usual.content(), usual.journal(), Optional.of(faults), false, false);
    }

    private BuildSpec spec(Release release) {
        Path model = folder.resolve("net.tflite");
        WholeFiles.write(model, model(release.weight));
        UpdateSpec update = new UpdateSpec(
                Models.SLOTS,
                Header.NONE,
                Optional.of(TestKeys.write(folder, KEY)),
                new Versions(release.version, "1.0.0", "0.0.0"));
        return SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "net"),
                        List.of(new ModelSource(model, "default")),
                        BOARD)
                .toolchain(Optional.of("clang"))
                .update(update)
                .verify(new VerifySpec(VerifyOn.BOARD, Optional.empty(), 2, 0))
                .build();
    }

    /** A layer of 8 inputs and 4 outputs. */
    private static byte[] model(int weight) {
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
                        Options.fullyConnected((byte) 0, false),
                        new int[] {x, w, -1},
                        y)
                .inputs(x)
                .outputs(y)
                .build();
    }
}
