// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static io.kiln.report.JsonSchemas.assertFits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.draw.RandomOperators;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CompilerSpec.QuantizeSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.ir.type.Shape;
import io.kiln.quantize.FloatNet;
import io.kiln.quantize.QuantizeOptions;
import io.kiln.quantize.QuantizeOptions.Limits;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.compiler.TestToolchains;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All steps for a float model that is quantized on the way, on this computer. */
final class QuantizedFlowTest {
    @TempDir
    Path folder;

    private Function model;

    @BeforeEach
    void writeModelAndSamples() throws IOException {
        ArchiveProject.assumeRunnable("host", "host");
        FloatNet net = new FloatNet(5);
        Arg.Ref conv = net.relu(net.conv(net.input(1, 6, 6, 2), Window.of(3, 3).strided(2, 2), 4));
        Arg.Ref flat = net.bind(new Reshape(Shape.of(1, 16)), conv);
        model = net.function(net.bind(new Softmax(1), net.dense(flat, 3)));
        RelayPrinter.Module text = RelayPrinter.withParameters(model);
        Files.writeString(folder.resolve("net.relay"), text.text());
        Files.write(
                folder.resolve("net.params"),
                ParameterFile.write(text.parameters()).toArray());
        Path samples = Files.createDirectory(folder.resolve("samples"));
        int k = 0;
        for (Sample sample : FloatNet.samples(model, 20, 1)) {
            Files.write(
                    samples.resolve("input_" + k++ + ".bin"),
                    sample.inputs().get(0).toArray());
        }
    }

    private BuildSpec spec(String mode, String keepFloat, Limits limits) {
        return draft(mode, keepFloat, limits).build();
    }

    private SpecDraft draft(String mode, String keepFloat, Limits limits) {
        String io = mode.equals("auto") ? "float" : "int8";
        QuantizeSpec quantize = new QuantizeSpec(
                QuantizeSpec.options(mode, "minmax", "auto", io, keepFloat, limits),
                Optional.of(folder.resolve("samples")),
                Optional.empty());
        return SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "net"),
                        List.of(new ModelSource(folder.resolve("net.relay"), "net")),
                        "host")
                .toolchain(Optional.of("host"))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 3, 0))
                .quantize(quantize);
    }

    private List<String> build(BuildSpec spec) {
        KeptLog log = new KeptLog();
        new Flow(log, TestToolchains.environment(Log.QUIET)).build(spec, DeviceSpec.USUAL);
        return log.said();
    }

    private JsonNode json(String file) throws IOException {
        return new ObjectMapper().readTree(folder.resolve("out").resolve(file).toFile());
    }

    /** Pictures calibrate the model and are then what the image is verified with. */
    @Test
    void picturesAreSamplesAndCases() throws IOException {
        Path pictures = folder.resolve("pictures");
        Random random = new Random(4);
        for (int k = 0; k < 6; k++) {
            BufferedImage image = new BufferedImage(9, 8, BufferedImage.TYPE_INT_RGB);
            for (int i = 0; i < 72; i++) {
                image.setRGB(i % 9, i / 9, random.nextInt());
            }
            Path file = pictures.resolve((k % 3 == 0 ? "on" : "off") + "/" + k + ".jpg");
            Files.createDirectories(file.getParent());
            ImageIO.write(image, "jpg", file.toFile());
        }
        Files.writeString(
                pictures.resolve("samples.yaml"),
                "schema: 1\nimage:\n  channels: gray\n  resize: {height: 6, width: 6}\n  normalize: {divide: 255}\n");
        FloatNet net = new FloatNet(6);
        Function grey = net.function(net.dense(net.bind(new Reshape(Shape.of(1, 36)), net.input(1, 6, 6, 1)), 2));
        RelayPrinter.Module text = RelayPrinter.withParameters(grey);
        Files.writeString(folder.resolve("net.relay"), text.text());
        Files.write(
                folder.resolve("net.params"),
                ParameterFile.write(text.parameters()).toArray());
        BuildSpec spec = draft("int8", "", Limits.NONE)
                .quantize(new QuantizeSpec(
                        QuantizeSpec.options("int8", "minmax", "auto", "int8", "", Limits.NONE),
                        Optional.of(pictures),
                        Optional.empty()))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(pictures), 1, 0))
                .build();

        List<String> lines = build(spec);

        assertThat(lines).contains("Calibrating net: 6 of 6 samples").anyMatch(line -> line.startsWith("Accuracy: "));
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/verify.json").findValuesAsText("name"))
                .containsSubsequence("off/1.jpg", "off/2.jpg", "off/4.jpg", "off/5.jpg", "on/0.jpg", "on/3.jpg");
    }

    private static Limits minSqnr(double decibels) {
        return new Limits(Optional.empty(), Optional.of(decibels));
    }

    @Test
    void theImageAnswersAsTheQuantizedModelBitForBit() throws IOException {
        List<String> lines = build(spec("int8", "", minSqnr(20)));

        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/verify.json").path("cases")).hasSize(3);
        assertThat(lines)
                .contains("Calibrating net: 20 of 20 samples")
                .anyMatch(l -> l.startsWith("Quantized net to int8"));
        assertFits("quantized", Files.readString(folder.resolve("out/kiln/quantized.json")));
        assertThat(folder.resolve("out/kiln/quantized.html"))
                .content()
                .contains("<td class=\"text name\" data-label=\"Layer\">"
                        + json("kiln/quantized.json").at("/layers/0/name").asText() + "</td>");
        assertThat(json("kiln/quantized.json").path("layers").get(0).path("op").asText())
                .isEqualTo("nn.conv2d");
        assertThat(json("kiln/quantized.json").at("/inputs/0/zeroPoint").asInt())
                .isEqualTo(19);
        assertThat(json("kiln/report.json").at("/operators/0/inputs/0/dtype").asText())
                .isEqualTo("int8");
        Function written = TfliteFrontend.read(bytes("quantized.tflite"), "net.relay", "net");
        Function compiled = RelayFrontend.read(
                bytes("quantized.relay"),
                "quantized.relay",
                Optional.of(bytes("quantized.params")),
                "quantized.params",
                "net");
        for (int seed = 0; seed < 20; seed++) {
            List<Bytes> inputs =
                    List.of(RandomOperators.input(written.params().get(0).type(), seed));
            assertThat(Interpreter.run(compiled, inputs)).isEqualTo(Interpreter.run(written, inputs));
        }
    }

    private Bytes bytes(String file) throws IOException {
        return Bytes.wrap(Files.readAllBytes(folder.resolve("out/kiln").resolve(file)));
    }

    @Test
    void nothingIsDoneTwiceUnlessASampleChanges() throws IOException {
        build(spec("int8", "", Limits.NONE));
        byte[] first = Files.readAllBytes(folder.resolve("out/kiln/quantized.tflite"));
        assertThat(build(spec("int8", "", Limits.NONE))).noneMatch(line -> line.startsWith("Calibrating"));

        byte[] sample = Files.readAllBytes(folder.resolve("samples/input_3.bin"));
        ByteBuffer.wrap(sample).order(ByteOrder.LITTLE_ENDIAN).putFloat(0, 9);
        Files.write(folder.resolve("samples/input_3.bin"), sample);
        assertThat(build(spec("int8", "", Limits.NONE))).anyMatch(line -> line.startsWith("Calibrating"));
        assertThat(Files.readAllBytes(folder.resolve("out/kiln/quantized.tflite")))
                .isNotEqualTo(first);
    }

    @Test
    void aLayerThatStaysFloatIsFloatInTheImage() throws IOException {
        build(spec("int8", "t3", Limits.NONE));
        assertThat(json("kiln/quantized.json")
                        .path("layers")
                        .get(0)
                        .path("precision")
                        .asText())
                .isEqualTo("float");
        assertThat(json("kiln/verify.json").path("passed").asBoolean()).isTrue();
    }

    @Test
    void accuracyOfLabelledSamplesIsReported() throws IOException {
        StringBuilder labels = new StringBuilder();
        for (int k = 0; k < 20; k++) {
            labels.append(k).append(",").append(k % 3).append("\n");
        }
        Files.writeString(folder.resolve("samples/labels.csv"), labels);
        List<String> lines = build(spec("int8", "", new Limits(Optional.of(100.0), Optional.empty())));
        assertThat(lines).anyMatch(line -> line.startsWith("Accuracy: float "));
        assertThat(json("kiln/quantized.json").at("/accuracy/real").asDouble()).isBetween(0.0, 1.0);
    }

    @Test
    void aLimitThatIsBrokenFailsTheBuildAndLeavesNothing() {
        assertThatThrownBy(() -> build(spec("int8", "", minSqnr(150))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("signal-to-noise ratio")
                .hasMessageContaining("150.0 dB or more (kiln.quantize.minSqnr)");
        assertThat(folder.resolve("out/kiln/quantized.relay")).doesNotExist();
    }

    @Test
    void aLimitOfAccuracyNeedsLabels() {
        assertThatThrownBy(() -> build(spec("int8", "", new Limits(Optional.of(1.0), Optional.empty()))))
                .hasMessageContaining("kiln.quantize.maxAccuracyLoss needs labels");
    }

    @Test
    void ofSeveralModelsThoseWithSamplesAreQuantized() throws IOException {
        Path all = Files.createDirectory(folder.resolve("all"));
        Files.move(folder.resolve("samples"), all.resolve("one"));
        Path model = folder.resolve("net.relay");
        BuildSpec spec = SpecDraft.of(spec("int8", "", Limits.NONE))
                .models(List.of(new ModelSource(model, "one"), new ModelSource(model, "two")))
                .quantize(new QuantizeSpec(QuantizeOptions.of(QuantizeMode.INT8), Optional.of(all), Optional.empty()))
                .build();
        build(spec);
        assertThat(json("kiln/verify.json").path("passed").asBoolean()).isTrue();
        assertThat(folder.resolve("out/kiln/quantized-one.relay")).isRegularFile();
        assertThat(folder.resolve("out/kiln/quantized-two.relay")).doesNotExist();
    }

    @Test
    void aSearchSaysWhatItTried() throws IOException {
        build(spec("auto", "", minSqnr(50)));
        JsonNode trials = json("kiln/quantized.json").path("trials");
        assertThat(trials.size()).isBetween(2, 7);
        assertThat(trials.get(0).path("layers")).isEmpty();
        assertFits("quantized", Files.readString(folder.resolve("out/kiln/quantized.json")));
    }

    @Test
    void wrongParametersAreReportedTogether() {
        assertThatThrownBy(() -> build(spec("int4", "", Limits.NONE)))
                .hasMessageContaining("kiln.quantize is 'int4'")
                .hasMessageContaining("none, int8, int16x8, auto");
        assertThatThrownBy(() -> build(spec("int8", "absent", Limits.NONE)))
                .hasMessageContaining("no layer is named `absent`");
    }
}
