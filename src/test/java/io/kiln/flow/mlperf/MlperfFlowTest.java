// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.mlperf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.device.emulator.Emulator.QemuLine;
import io.kiln.device.mlperf.MlperfDevice;
import io.kiln.device.mlperf.ScriptedLine;
import io.kiln.firmware.app.MlperfOptions;
import io.kiln.flow.BoardFlow;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.mlperf.MlperfStep.LabelledInput;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.flow.spec.DeviceSpec.MlperfSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.tflite.SeededNet;
import io.kiln.frontend.tflite.SeededNet.Value;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.preprocess.Preprocessing;
import io.kiln.preprocess.Recording;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import io.kiln.reference.SharedFolder;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Images with the application {@code mlperf-tiny}, measured in the emulator. */
class MlperfFlowTest {
    private static final float CLASS_STEP = 1 / 256f;

    private static final int CHUNK = 512;
    private static final int ROWS = 30;
    private static final int FEATURES = 40;

    /** What QEMU says of a write to the data of the port with the pin. */
    private static final Pattern LEVEL = Pattern.compile("gpio.* write .*offset 0x0*4, value 0x0*([01])\\b");

    private final KeptLog log = new KeptLog();
    private MlperfOptions options = MlperfOptions.USUAL;

    @TempDir
    private Path folder;

    @BeforeAll
    static void findTheEmulator() {
        TestPrograms.need("qemu-system-arm");
    }

    /** On cores with floats and without them, and this computer; {@code nightly} takes more. */
    static Stream<String> boards() {
        Stream<String> nightly = System.getProperty("kiln.golden", "").equals("all")
                ? Stream.of("mps3-an547", "qemu-riscv32", "virtual-stm32f405")
                : Stream.empty();
        return Stream.concat(Stream.of("mps2-an386", "microbit", "host"), nightly);
    }

    @ParameterizedTest
    @MethodSource("boards")
    void aModelIsMeasuredOnEveryKindOfBoard(String board) throws IOException {
        for (int k = 0; k < 5; k++) {
            int other = k % OwnModel.CASES;
            Files.write(
                    data().resolve("input_" + k + ".bin"),
                    OwnModel.KEYWORDS.input(other).toArray());
        }
        label("0,1,2,3,4".split(","), 12);
        options = MlperfOptions.of(Optional.of("custom"), "accuracy", Optional.of("a board"), Optional.empty());
        build(board, OwnModel.KEYWORDS.model(), "keywords");
        measure(board, "session");

        JsonNode answers = json("accuracy/results.json");
        assertThat(answers).hasSize(5);
        for (int k = 0; k < 5; k++) {
            byte[] output = OwnModel.KEYWORDS.output(k % OwnModel.CASES).toArray();
            assertThat(answers.get(k).at("/infer/results").toString())
                    .isEqualTo("[" + classes(output).replaceAll("(\\.\\d*?[1-9]|\\.0)0+(?=,|$)", "$1") + "]");
        }
        assertThat(text("accuracy/log.txt")).contains("> name%\n< m-name-dut-[a board]\n< m-ready\n");
        assertThat(text("performance/log.txt")).contains("> infer 10 1%\n< m-warmup-start-1\n< m-warmup-done\n");
        assertThat(text("performance/results.txt"))
                .containsPattern("ulp-mlperf: Median throughput is +[0-9.]+ inf./sec.\n");
        JsonSchemas.assertFits("report", Files.readString(folder.resolve("out/kiln/report.json")));
        JsonSchemas.assertFits("mlperf", Files.readString(folder.resolve("out/kiln/mlperf.json")));
        JsonSchemas.assertFits("mlperf-results", text("accuracy/results.json"));
        JsonSchemas.assertFits("mlperf-results", text("performance/results.json"));
        assertThat(log.said()).anyMatch(line -> line.contains("no MLPerf results"));
    }

    @Test
    @NeedsShared({"mlperf-tiny", "golden"})
    void keywordsOfTheBenchmarkAreAnsweredAsTheReferenceDoes() throws IOException {
        Path inputs = SharedFolder.need("mlperf-tiny").resolve("kws01");
        List<String> expected = Files.readAllLines(inputs.resolve("expected.csv"));
        StringBuilder labels = new StringBuilder();
        for (String line : expected.subList(1, expected.size())) {
            String[] cells = line.split(",", 4);
            Files.copy(inputs.resolve(cells[0]), data().resolve(cells[0]));
            labels.append(String.join(",", cells[0], cells[1], cells[2])).append('\n');
        }
        Files.writeString(data().resolve("y_labels.csv"), labels);
        build("mps2-an386", SharedFolder.need("golden").resolve("kws_ref_model/model.tflite"), "kws");
        measure("mps2-an386", "session");

        assertThat(text("accuracy/log.txt").lines().filter(line -> line.startsWith("< m-results-")))
                .containsExactlyElementsOf(expected.stream()
                        .skip(1)
                        .map(line -> "< " + line.split("\t", 3)[1])
                        .toList());
        assertThat(text("accuracy/results.txt")).contains("ulp-mlperf: Top 1% = 96.3\n");
    }

    @ParameterizedTest
    @CsvSource({"vww_96_int8, vww01, 2", "pretrainedResnet_quant, ic01, 10"})
    @NeedsShared("golden")
    void picturesAreSentAsTheyAre(String model, String benchmark, int classes) throws IOException {
        Path golden = SharedFolder.need("golden").resolve(model);
        for (int k = 0; k < 3; k++) {
            byte[] input = Files.readAllBytes(golden.resolve("input_" + k + ".bin"));
            for (int i = 0; i < input.length; i++) {
                input[i] ^= (byte) 0x80;
            }
            Files.write(data().resolve("input_" + k + ".bin"), input);
        }
        label("0,1,0".split(","), classes);
        build("mps2-an386", golden.resolve("model.tflite"), "pictures");
        measure("mps2-an386", "accuracy");

        String transcript = text("accuracy/log.txt");
        assertThat(transcript).contains("< m-model-[" + benchmark + "]");
        for (int k = 0; k < 3; k++) {
            assertThat(transcript)
                    .contains("< m-results-[" + classes(Files.readAllBytes(golden.resolve("output_" + k + ".bin")))
                            + "]");
        }
    }

    @Test
    @NeedsShared("golden")
    void anomaliesAreTheDistanceFromWhatWasSent() throws IOException {
        Path golden = SharedFolder.need("golden").resolve("ad01_int8");
        double[] expected = new double[3];
        for (int k = 0; k < 3; k++) {
            byte[] input = Files.readAllBytes(golden.resolve("input_" + k + ".bin"));
            byte[] output = Files.readAllBytes(golden.resolve("output_" + k + ".bin"));
            ByteBuffer sent = ByteBuffer.allocate(4 * input.length).order(ByteOrder.LITTLE_ENDIAN);
            float sum = 0;
            for (int i = 0; i < input.length; i++) {
                float value = 0.39101523f * (input[i] - 89);
                sent.putFloat(value);
                float difference = 0.36449847f * (output[i] - 96) - value;
                sum += difference * difference;
            }
            expected[k] = Math.round(sum / input.length * 1000.0) / 1000.0;
            Files.write(data().resolve("input_" + k + ".bin"), sent.array());
        }
        label("0,1,1".split(","), 2);
        build("mps2-an386", golden.resolve("model.tflite"), "ad");
        measure("mps2-an386", "accuracy");

        JsonNode answers = json("accuracy/results.json");
        for (int k = 0; k < 3; k++) {
            assertThat(answers.get(k).at("/infer/results/0").asDouble()).isEqualTo(expected[k]);
        }
        assertThat(text("accuracy/results.txt")).contains("AUC = ").doesNotContain("Top 1%");
    }

    @Test
    void aWordIsHeardInARecording() throws IOException {
        SeededNet net = new SeededNet(8);
        Value rows = net.input("rows", 1 / 256f, -128, 1, ROWS, 1, FEATURES);
        Value value = net.dense(net.flatten(rows), 8, true);
        hears("mps2-an386", net.build(net.classify(value, 3), rows), 1 / 256f);
    }

    @Test
    @NeedsShared("golden")
    void theModelOfTheBenchmarkHears() throws IOException {
        hears(
                "host",
                Files.readAllBytes(SharedFolder.need("golden").resolve("str_ww_ref_model/model.tflite")),
                0.0037010426f);
    }

    /** Every row of features and every answer, over the line and kept by the device. */
    private void hears(String board, byte[] file, float scale) throws IOException {
        Path model = folder.resolve("model.tflite");
        Files.write(model, file);
        Function function = TfliteFrontend.read(model, "word");
        String page = Files.readString(Path.of("src", "site", "markdown", "mlperf.md"));
        Path described = folder.resolve("model.preprocess.yaml");
        Files.writeString(described, page.replaceFirst("(?s).*?```yaml\n", "").replaceFirst("(?s)```.*", ""));
        TensorInfo input =
                new TensorInfo("rows", "rows", DType.INT8, List.of(1, ROWS, 1, FEATURES), scale, Byte.MIN_VALUE);
        short[] audio = new short[CHUNK + ROWS * CHUNK];
        Random random = new Random(3);
        for (int i = CHUNK; i < audio.length; i++) {
            audio[i] = (short) (9000 * Math.sin(i * (0.05 + i * 2e-6)) + random.nextInt(700));
        }
        byte[] recording = Recording.bytes(audio).toArray();
        write(data().resolve("a.wav"), Arrays.copyOfRange(recording, 2 * CHUNK, recording.length));
        Files.writeString(data().resolve("a_ww_windows.json"), "[[0.1, 0.2], [30.0, 31.5]]");
        build(board, model, "word");
        measure(board, "session");

        byte[] features = Preprocessing.read(described).input(input, audio).toArray();
        byte[] history = new byte[features.length];
        List<String> said = new ArrayList<>();
        for (int k = 0; k < ROWS; k++) {
            byte[] row = Arrays.copyOfRange(features, k * FEATURES, (k + 1) * FEATURES);
            System.arraycopy(history, FEATURES, history, 0, history.length - FEATURES);
            System.arraycopy(row, 0, history, history.length - FEATURES, FEATURES);
            said.add("< m-features-" + Arrays.toString(row));
            said.add("< m-activations-"
                    + Arrays.toString(Interpreter.run(function, List.of(Bytes.copyOf(history)))
                            .get(0)
                            .toArray()));
        }
        assertThat(text("accuracy/log.txt")
                        .lines()
                        .filter(line -> line.startsWith("< m-features") || line.startsWith("< m-activations")))
                .containsExactlyElementsOf(said);
        assertThat(said.stream().distinct().count()).isGreaterThan(ROWS);
        JsonNode streaming = new ObjectMapper()
                .readTree(folder.resolve("out/kiln/mlperf.json").toFile())
                .path("streaming");
        assertThat(streaming.path("words").asInt()).isEqualTo(2);
        assertThat(streaming.path("frames").asInt()).isEqualTo(ROWS);
        assertThat(streaming.path("falseNegatives").asInt()).isBetween(1, 2);
        assertThat(text("accuracy/log.txt"))
                .contains("< m-profile-[MLPerf Tiny Firmware V0.1.0]\n< m-model-[sww01]\n")
                .contains("> start%\n< Received command: start\n< m-lap-us-")
                .contains("< Listening for I2S data ... \n< DMA receive initiated.\n")
                .contains("< Expecting 1024 bytes\n")
                .contains("< 1024 bytes received\n< m-load-done\n")
                .contains("< Streaming stopped.\n< target activations: \n< [");
        JsonSchemas.assertFits("mlperf", Files.readString(folder.resolve("out/kiln/mlperf.json")));
    }

    private static void write(Path file, byte[] samples) throws IOException {
        ByteBuffer wave = ByteBuffer.allocate(44 + samples.length).order(ByteOrder.LITTLE_ENDIAN);
        wave.put("RIFF".getBytes(StandardCharsets.US_ASCII)).putInt(36 + samples.length);
        wave.put("WAVEfmt ".getBytes(StandardCharsets.US_ASCII))
                .putInt(16)
                .putShort((short) 1)
                .putShort((short) 1);
        wave.putInt(16000).putInt(32000).putShort((short) 2).putShort((short) 16);
        wave.put("data".getBytes(StandardCharsets.US_ASCII))
                .putInt(samples.length)
                .put(samples);
        Files.write(file, wave.array());
    }

    /** The benchmark's firmware is written from its protocol alone, and calls the model by the names of its own interface. */
    @Test
    void firmwareOfTheBenchmarkCallsTheModelByItsOwnNames() throws IOException {
        Files.createDirectories(folder.resolve("src/main/c"));
        Files.copy(Path.of("src", "test", "c", "mlperf_firmware.c"), folder.resolve("src/main/c/main.c"));
        for (int k = 0; k < 5; k++) {
            Files.write(
                    data().resolve("input_" + k + ".bin"),
                    OwnModel.KEYWORDS.input(k % OwnModel.CASES).toArray());
        }
        label("0,1,2,3,4".split(","), 12);
        options = MlperfOptions.of(Optional.of("custom"), "performance", Optional.empty(), Optional.empty());
        build("host", OwnModel.KEYWORDS.model(), "keywords");
        measure("host", "session");

        assertThat(text("accuracy/log.txt")).contains("< m-name-dut-[firmware of the benchmark]\n");
        assertThat(text("accuracy/log.txt").lines().filter(line -> line.startsWith("< m-results-")))
                .containsExactlyElementsOf(IntStream.range(0, 5)
                        .mapToObj(k -> "< m-results-["
                                + classes(OwnModel.KEYWORDS
                                        .output(k % OwnModel.CASES)
                                        .toArray())
                                + "]")
                        .toList());
        assertThat(folder.resolve("out/firmware/app/kiln_mlperf_protocol.c")).doesNotExist();
        try (RunningProcess image =
                ProcessRunner.start(Command.of(layout().image("elf").toString(), List.of()))) {
            image.input().write("numbers%".getBytes(StandardCharsets.US_ASCII));
            image.input().close();
            assertThat(new String(image.output().readAllBytes(), StandardCharsets.US_ASCII))
                    .endsWith("m-ready\r\n-7 8 9 10 ab 05 00c0ffee c% text|\r\nm-ready\r\n");
        }
    }

    /** By the window that a runner has in practice: from a word's start to two seconds behind its end. */
    @Test
    void detectionsAreScored() {
        double[][] words = {{1, 1.5}, {10, 10.5}, {20, 20.4}};
        assertThat(WakeWords.score(List.of(1.0, 3.5, 3.6, 4.0, 4.7, 12.5, 19.9), words))
                .isEqualTo(new WakeWords.Score(3, 1, 3));
        assertThat(WakeWords.score(List.of(), words)).isEqualTo(new WakeWords.Score(3, 3, 0));
    }

    @ParameterizedTest
    @CsvSource({"performance, 0, ''", "performance, 921600, 921600", "energy, 0, 9600", "energy, 115200, 115200"})
    void theImageSpeaksAtTheRateThatIsAskedFor(String mode, int given, String expected) {
        Board board = Boards.builtIn().find("mps2-an386");
        MlperfOptions asked = MlperfOptions.of(
                Optional.empty(), mode, Optional.empty(), given == 0 ? Optional.empty() : Optional.of(given));
        String usual = String.valueOf(board.console().orElseThrow().baud());
        assertThat(asked.at(board).files().get("kiln_settings.h").text())
                .contains("#define KILN_BAUD " + (expected.isEmpty() ? usual : expected) + "u\n");
        assertThatThrownBy(() -> MlperfOptions.of(Optional.empty(), mode, Optional.empty(), Optional.of(7)))
                .hasMessageContaining("kiln.mlperf.baud is 7; expected bits per second from 300 to 4000000");
    }

    @ParameterizedTest
    @CsvSource({
        "y_labels.csv, '../x.bin,2,0', lists no input",
        "y_labels.csv, 'a.bin,2,2', lists no input",
        "y_labels.csv, 'a.bin,2,0,16,0', lists no input",
        "y_labels.csv, '', no inputs",
        "other.csv, '', cannot read",
    })
    void inputsAreFilesOfTheirFolder(String name, String text, String problem) throws IOException {
        Files.writeString(data().resolve(name), "file,classes,class\n" + text + "\n");
        assertThatThrownBy(() -> LabelledInput.read(data(), "kws01"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void windowsTakeNoMoreMemoryThanIsBearable() throws IOException {
        Files.write(data().resolve("a.bin"), new byte[1 << 20]);
        Files.writeString(data().resolve("y_labels.csv"), "a.bin,2,0,524288,1\n");
        LabelledInput input = LabelledInput.read(data(), "kws01").get(0);
        assertThatThrownBy(input::windows)
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there are too many windows of 524288 bytes");
    }

    @Test
    void aClockThatStandsStillIsNotAskedForEver() {
        String still = "m-lap-us-7\nm-lap-us-7\nm-results-[1]\nm-ready\n";
        ScriptedLine line = new ScriptedLine(still.repeat(5) + "m-model-[kws01]\nm-ready\n");
        try (MlperfDevice device = new MlperfDevice(line, MlperfDevice.Limits.OF_RUNNER, said -> {})) {
            assertThatThrownBy(() -> MlperfStep.trial(device))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("inferences take 0 microseconds by its clock");
        }
    }

    /** QEMU has no such pin and says what is written to it: high at the start, then low and high at each moment. */
    @Test
    void momentsArePulsesWhereEnergyIsMeasured() throws IOException {
        options = MlperfOptions.of(Optional.of("custom"), "energy", Optional.empty(), Optional.empty());
        build("mps2-an386", OwnModel.KEYWORDS.model(), "keywords");
        Emulation.Qemu qemu =
                (Emulation.Qemu) Boards.builtIn().find("mps2-an386").emulation();
        List<String> line = QemuLine.of(qemu, layout().image("elf").toString())
                .with(List.of("-d", "unimp"))
                .words();
        List<String> levels = new CopyOnWriteArrayList<>();
        try (RunningProcess machine = ProcessRunner.start(Command.ofLine(line), said -> {
            Matcher write = LEVEL.matcher(said);
            return write.find() && levels.add(write.group(1));
        })) {
            machine.input().write("infer 2 1%timestamp%".getBytes(StandardCharsets.US_ASCII));
            machine.input().flush();
            String said = "";
            while (!said.endsWith("]\r\nm-ready\r\nm-ready\r\n")) {
                said += (char) machine.output().read();
            }
            assertThat(said)
                    .startsWith("m-timestamp-mode-energy\r\nm-init-done\r\nm-ready\r\n")
                    .doesNotContain("m-lap-us");
        }
        assertThat(levels).containsExactly("1", "0", "1", "0", "1", "0", "1", "0", "1");
    }

    @Test
    void energyNeedsAPin() {
        options = MlperfOptions.of(Optional.of("custom"), "energy", Optional.empty(), Optional.empty());
        assertThatThrownBy(() -> build("host", OwnModel.KEYWORDS.model(), "keywords"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("has no pin");
    }

    @Test
    void aModelThatIsNoBenchmarkIsRefused() {
        assertThatThrownBy(() -> build("mps2-an386", GestureProject.MODEL, "gesture"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kws01 with 490 and 12")
                .hasMessageContaining("custom");
    }

    private Path data() throws IOException {
        return Files.createDirectories(folder.resolve("data"));
    }

    private void label(String[] labels, int classes) throws IOException {
        StringBuilder list = new StringBuilder();
        for (int k = 0; k < labels.length; k++) {
            list.append("input_" + k + ".bin," + classes + "," + labels[k] + "\n");
        }
        Files.writeString(data().resolve("y_labels.csv"), list);
    }

    private Layout layout() {
        return new Layout(folder, folder.resolve("out"), "net");
    }

    private void build(String board, Path model, String name) {
        new Flow(log, TestToolchains.environment(log))
                .build(
                        SpecDraft.of(layout(), List.of(new ModelSource(model, name)), board)
                                .mlperf(options)
                                .verify(GestureProject.UNVERIFIED)
                                .build(),
                        DeviceSpec.USUAL);
    }

    private void measure(String board, String run) throws IOException {
        new BoardFlow(log, TestToolchains.environment(log))
                .mlperf(
                        Boards.builtIn().find(board),
                        layout(),
                        MlperfSpec.of(Optional.of(data()), run, "emulator", ConsoleSpec.OF_BOARD));
    }

    private String text(String file) throws IOException {
        return Files.readString(folder.resolve("out/kiln/mlperf").resolve(file));
    }

    private JsonNode json(String file) throws IOException {
        return new ObjectMapper().readTree(text(file));
    }

    /** Probabilities of classes as C's printf prints them. */
    private static String classes(byte[] output) {
        StringBuilder text = new StringBuilder();
        for (byte value : output) {
            text.append(text.isEmpty() ? "" : ",")
                    .append(new BigDecimal(CLASS_STEP * (value + 128)).setScale(3, RoundingMode.HALF_EVEN));
        }
        return text.toString();
    }
}
