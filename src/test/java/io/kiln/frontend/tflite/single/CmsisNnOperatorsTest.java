// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.OperatorInfo;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.DrawnCases;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.reference.Interpreter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random operators that CMSIS-NN takes, computed by the stand-ins of its functions: each composite, of int8 and of int16. */
class CmsisNnOperatorsTest {
    private static final Path STAND_IN = Path.of("src", "test", "c", "cmsis-nn");
    private static final int CASES = DrawnCases.atLeast(3);
    private static final int SEEDS = 60 * CASES;

    private static final List<OperatorCases> OPERATORS = List.of(
            LayerOperators.CONV_2D,
            LayerOperators.DEPTHWISE_CONV_2D,
            LayerOperators.FULLY_CONNECTED,
            LayerOperators.FULLY_CONNECTED_INT16,
            LayerOperators.AVERAGE_POOL_2D,
            LayerOperators.MAX_POOL_2D,
            binary("ADD"),
            binary("MUL"),
            BasicOperators.SOFTMAX,
            BasicOperators.SOFTMAX_INT16);

    @TempDir
    private Path folder;

    private static OperatorCases binary(String name) {
        return BinaryCases.ALL.stream()
                .filter(operator -> operator.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private record Case(String name, CompiledModel model, List<Bytes> inputs) {}

    @Test
    void standInsAnswerWhatTheModelSays() throws IOException {
        List<Case> cases =
                OPERATORS.stream().flatMap(operator -> cases(operator).stream()).toList();
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        List<Byte> expected = new ArrayList<>();
        for (Case one : cases) {
            models.add(one.model().library().metadata());
            artifacts.add(one.model().library().artifacts().artifacts());
            inputs.addAll(one.inputs());
            for (Bytes output : Interpreter.run(one.model().imported(), one.inputs())) {
                for (byte value : output.toArray()) {
                    expected.add(value);
                }
            }
        }
        artifacts.add(standIns());
        byte[] answers =
                HostProgram.build(folder, models, artifacts).run(inputs).toArray();
        assertThat(answers).containsExactly(expected.toArray(Byte[]::new));
        assertThat(cases)
                .extracting(Case::name)
                .containsAll(Stream.of(
                                "convolve_wrapper",
                                "depthwise_conv_wrapper",
                                "fully_connected",
                                "avgpool",
                                "max_pool",
                                "elementwise_add",
                                "elementwise_mul",
                                "softmax")
                        .flatMap(name -> Stream.of("arm_" + name + "_s8", "arm_" + name + "_s16"))
                        .toList());
    }

    /** The bias of int16 convolutions is a struct from version 6 on, which the library reads even if there is none. */
    @Test
    void aBiasThatIsMissingIsAStructWithoutData() throws IOException {
        Function function = RelayFrontend.read(
                Bytes.ofText("""
                        def @main(%x: Tensor[(1, 3, 3, 2), int16], %w: Tensor[(2, 1, 1, 2), int8]) {
                          %0 = qnn.conv2d(%x, %w, 0, 0, 0.1f, 0.02f, channels=2, kernel_size=[1, 1], data_layout="NHWC", kernel_layout="OHWI", out_dtype="int64");
                          tfl.requantize(%0, 1073741824, -6, axis=3, rounding="TFLITE", input_zero_point=0, output_zero_point=0, out_dtype="int16")
                        }
                        """),
                "m.relay",
                Optional.of(ParameterFile.write(List.of(new NamedTensor(
                        "w", DType.INT8, List.of(2, 1, 1, 2), Bytes.copyOf(new byte[] {9, -7, 100, 3}))))),
                "m.params",
                "unbiased");
        CompiledModel model = compile("unbiased", function);
        byte[] input = new byte[36];
        new Random(1).nextBytes(input);

        assertThat(model.library().artifacts().of(ArtifactKind.SOURCE))
                .anyMatch(source -> source.text().contains("{.data = NULL, .is_int32_bias = false}"));
        assertThat(HostProgram.build(
                                folder,
                                List.of(model.library().metadata()),
                                List.of(model.library().artifacts().artifacts(), standIns()))
                        .run(List.of(Bytes.wrap(input))))
                .isEqualTo(Interpreter.run(function, List.of(Bytes.wrap(input))).get(0));
    }

    /** Some cases of each function that is called. */
    private static List<Case> cases(OperatorCases operator) {
        Map<String, Integer> counts = new HashMap<>();
        List<Case> cases = new ArrayList<>();
        for (long seed = 0; seed < SEEDS; seed++) {
            Draw draw = new Draw(seed);
            operator.draw().accept(draw);
            String name = operator.name().toLowerCase(Locale.ROOT) + seed;
            Function function = TfliteFrontend.read(Bytes.wrap(draw.build()), name + ".tflite", name);
            CompiledModel model = compile(name, function);
            Optional<String> called = model.library().metadata().operators().stream()
                    .filter(each -> each.choice().codegen().name().equals("cmsis-nn"))
                    .map(OperatorInfo::schedule)
                    .findFirst();
            if (called.isPresent() && counts.merge(called.get(), 1, Integer::sum) <= CASES) {
                cases.add(new Case(called.get(), model, draw.rounds(1).get(0)));
            }
        }
        return cases;
    }

    private static CompiledModel compile(String name, Function function) {
        CompileRequest request = RequestDraft.of(Path.of(name + ".tflite"), "cmsis-nn, c -keys=cpu -model=host")
                .name(name)
                .build();
        return ModelCompiler.compile(request, function);
    }

    /** The stand-ins' objects, and their headers, which the models' C includes. */
    private List<Artifact> standIns() throws IOException {
        Path include = STAND_IN.resolve("Include");
        List<Artifact> files = new ArrayList<>();
        List<String> line = new ArrayList<>(List.of("-c", "-O1", "-I" + include.toAbsolutePath()));
        try (Stream<Path> all = Files.walk(STAND_IN)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                String name = String.valueOf(file.getFileName());
                if (name.endsWith(".h")) {
                    files.add(Artifact.ofText("test", ArtifactKind.HEADER, name, Files.readString(file)));
                } else if (name.endsWith(".c")) {
                    line.add(String.valueOf(file.toAbsolutePath()));
                }
            }
        }
        Path objects = Files.createDirectory(folder.resolve("objects"));
        ProcessResult result =
                ProcessRunner.run(Command.of("cc", line).in(objects).within(Duration.ofMinutes(2)));
        assertThat(result.exitCode()).as(result.message()).isZero();
        try (Stream<Path> all = Files.list(objects)) {
            for (Path object : all.sorted().toList()) {
                files.add(Artifact.of(
                        "test",
                        ArtifactKind.OBJECT,
                        String.valueOf(object.getFileName()),
                        Bytes.wrap(Files.readAllBytes(object))));
            }
        }
        return files;
    }
}
