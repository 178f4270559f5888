// SPDX-License-Identifier: Apache-2.0
package io.kiln.tvm;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.frontend.tflite.single.OperatorCases;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The real TVM parses what Kiln prints, and Kiln reads what it prints. */
@ParameterizedClass
@MethodSource("io.kiln.tvm.RealTvm#releases")
final class TvmTextsTest {
    private static final Path REGISTRATION = Path.of("src", "main", "resources", "mlf", "kiln_relay.py");

    /** Calls of operators that TVM does not have, and those of them that it is told how to compute. */
    private static final Pattern FOREIGN = Pattern.compile("= (tfl\\.[\\w.]+)\\(");

    private static final Set<String> REPLACED =
            Set.of("tfl.requantize", "tfl.qnn.add", "tfl.qnn.subtract", "tfl.nn.avg_pool2d");
    private static final boolean IS_NIGHTLY =
            System.getProperty("kiln.golden", "").equals("all");

    /** How many cases of one of them are compiled. */
    private static final int MOST = IS_NIGHTLY ? 8 : 4;

    @Parameter
    private RealTvm tvm;

    @TempDir
    private Path folder;

    private final List<Path> files = new ArrayList<>();

    /** Layers of every kind, integers and floats of every width, variables, functions that operators call. */
    @Test
    void textsOfEveryOperatorAreParsed() {
        for (OwnModel model : OwnModel.values()) {
            write(model.id(), model.read());
        }
        SingleOperatorTest.operators()
                .forEach(operator -> write("operator", operator.function(0, TfliteRounding.MICRO, "default")));
        assertThat(files).hasSizeGreaterThan(150);
        assertParsed();
    }

    @Test
    @NeedsShared("golden")
    void textsOfGoldenModelsAreParsed() {
        Stream.of(GoldenModels.INTEGER, GoldenModels.SINGLE_OPERATORS, GoldenModels.FLOAT)
                .flatMap(List::stream)
                .forEach(name -> write(name, TfliteFrontend.read(GoldenModels.model(name), "default")));
        assertThat(files).hasSizeGreaterThan(80);
        assertParsed();
    }

    private Path write(String name, Function function) {
        try {
            Path file = folder.resolve(name + files.size() + ".relay");
            Files.writeString(file, RelayPrinter.astext(function));
            files.add(file);
            return file;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void assertParsed() {
        JsonNode errors = tvm.answer("parse", Map.of("files", files, "registration", REGISTRATION));
        assertThat(errors.properties()).isEmpty();
    }

    /** Names of tensors are comments in Kiln's text, which are lost. */
    @ParameterizedTest
    @EnumSource(OwnModel.class)
    void whatItReadsItPrintsForKiln(OwnModel model) {
        Path file = write(model.id(), model.read());
        String printed = tvm.answer("reprint", Map.of("file", file, "registration", REGISTRATION))
                .asText();
        assertThat(operators(read(printed))).isEqualTo(operators(model.read()));
    }

    /** Sorted: TVM prints independent operators in another order. */
    private static List<String> operators(Function function) {
        return function.bindings().stream()
                .map(binding -> binding.op().toString())
                .sorted()
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"convolutions, 1", "convolutions, 2", "pieces, 1", "pieces, 2"})
    void whatItPrintsAnswersAsItsOwnCompilerDoes(String network, int seed) {
        JsonNode printed = tvm.answer("print", Map.of("name", network, "seed", seed));
        Function function = read(printed.path("text").asText());
        List<Bytes> inputs = bytes(printed.path("inputs"));
        assertThat(Interpreter.run(function, inputs)).isEqualTo(bytes(printed.path("outputs")));
        assertThat(read(RelayPrinter.astext(function))).isEqualTo(function);
        assertThat(answers(write(network, function), List.of(inputs))).containsExactly(bytes(printed.path("outputs")));
    }

    /** TensorFlow Lite's arithmetic out of TVM's operators: what {@code kiln_relay.py} replaces rescaling and pools by. */
    @ParameterizedTest
    @EnumSource(
            value = OwnModel.class,
            names = {"SINE", "CODER", "SUMS", "WIDE_CONV", "WIDE_SUM", "WIDE_TRANSPOSED"})
    void itCompilesModelsWithTensorFlowLitesRounding(OwnModel model) {
        Path file = write(model.id(), model.read());
        List<List<Bytes>> cases = List.of(model.inputs(0), model.inputs(1));
        assertThat(answers(file, cases))
                .isEqualTo(cases.stream()
                        .map(inputs -> Interpreter.run(model.read(), inputs))
                        .toList());
    }

    /** Rescaled layers, rescaling itself, and pools, of drawn shapes. */
    @Test
    void itCompilesOperatorsWithTensorFlowLitesRounding() throws IOException {
        Random random = new Random(1);
        List<String> seen = new ArrayList<>();
        for (OperatorCases operator : SingleOperatorTest.operators().toList()) {
            Function function = operator.function(1, TfliteRounding.MICRO, "default");
            Path file = write("case", function);
            Set<String> foreign = FOREIGN.matcher(Files.readString(file))
                    .results()
                    .map(found -> found.group(1))
                    .collect(Collectors.toSet());
            if (!foreign.isEmpty()
                    && REPLACED.containsAll(foreign)
                    && seen.stream().filter(foreign::contains).count() < MOST) {
                seen.addAll(foreign);
                List<Bytes> inputs = function.params().stream()
                        .map(param -> {
                            byte[] data = new byte[Math.toIntExact(param.type().bytes())];
                            random.nextBytes(data);
                            return Bytes.wrap(data);
                        })
                        .toList();
                assertThat(answers(file, List.of(inputs)))
                        .as(Files.readString(file))
                        .containsExactly(Interpreter.run(function, inputs));
            }
        }
        assertThat(seen).containsAll(REPLACED).hasSizeGreaterThan(MOST);
    }

    private List<List<Bytes>> answers(Path file, List<List<Bytes>> cases) {
        List<List<String>> texts = cases.stream()
                .map(inputs -> inputs.stream()
                        .map(input -> HexFormat.of().formatHex(input.toArray()))
                        .toList())
                .toList();
        JsonNode answers = tvm.answer("run", Map.of("file", file, "registration", REGISTRATION, "cases", texts));
        return StreamSupport.stream(answers.spliterator(), false)
                .map(TvmTextsTest::bytes)
                .toList();
    }

    private static Function read(String text) {
        return RelayFrontend.read(Bytes.ofText(text), "m.relay", Optional.empty(), "m.params", "default");
    }

    private static List<Bytes> bytes(JsonNode texts) {
        return StreamSupport.stream(texts.spliterator(), false)
                .map(text -> Bytes.wrap(HexFormat.of().parseHex(text.asText())))
                .toList();
    }
}
