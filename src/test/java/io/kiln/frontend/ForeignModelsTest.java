// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.frontend.tflite.single.Agreement;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The small models beside the project that were made after reports of users: what Kiln reads of them answers as ONNX Runtime and
 * TensorFlow Lite answered, in the interpreter and as C on this machine.
 */
@NeedsShared("models-more")
class ForeignModelsTest {
    private static final String DENORMAL = "TensorFlow Lite takes denormal numbers for 0";

    /** Models whose answers are not Kiln's, with the reason. */
    private static final Map<String, String> OTHERWISE = otherwise();

    /** Beginnings of the names of models that Kiln must read; it may refuse the others. */
    private static final List<String> READ =
            List.of("f05_int16", "k_", "l_", "on", "oq", "or08_", "ot05_", "tf", "v_", "w_", "y_relu6", "z08_", "z09_");

    private static final List<Case> CASES = new ArrayList<>();
    /** Models of TensorFlow Lite in the arithmetic of its library. */
    private static final List<Case> CASES_OF_LITE = new ArrayList<>();

    private static final Map<String, String> REFUSED = new TreeMap<>();

    @TempDir
    private Path folder;

    private static Map<String, String> otherwise() {
        Map<String, List<String>> byReason = Map.of(
                "ONNX Runtime loses NaN and infinity, depending on their position",
                List.of("on70_nan_reducemax", "w_reducemax_20", "w_reducemin_20"),
                "TensorFlow Lite rounds sums of dense layers otherwise than TensorFlow Lite Micro",
                List.of(
                        "f05_int16",
                        "k_chk",
                        "k_fc16_0",
                        "tf27_fc_round_half",
                        "tf27_fc_round_third",
                        "tf29_fc_per_channel_round_third"),
                DENORMAL,
                List.of("tf19_sign_f32"),
                "TensorFlow Lite quantizes the data of hybrid layers",
                List.of("tf25_hybrid_fc_asym", "tf25_hybrid_fc_sym"),
                "A dictionary of labels and scores was not recorded",
                List.of("ml70_pipeline_zipmap"));
        Map<String, String> reasons = new TreeMap<>();
        byReason.forEach((reason, names) -> names.forEach(name -> reasons.put(name, reason)));
        return reasons;
    }

    /** @param isTflite whether TensorFlow Lite answered, which limits what is infinite to the largest float */
    private record Case(
            String name, Function function, List<List<Bytes>> inputs, List<Bytes> expected, boolean isTflite) {
        List<TensorType> outputs() {
            return GoldenModels.outputs(function);
        }

        List<Bytes> answer(int round) {
            return Interpreter.run(function, inputs.get(round));
        }

        /** How the interpreter's answers differ from the runtime's, empty if they agree. */
        String difference() {
            for (int k = 0; k < inputs.size(); k++) {
                ByteBuffer runtime = expected.get(k).buffer();
                List<Bytes> answers = answer(k);
                for (int i = 0; i < answers.size(); i++) {
                    DType dtype = outputs().get(i).dtype();
                    Bytes part = next(
                            runtime,
                            Math.min(runtime.remaining(), answers.get(i).size()));
                    String what = isTflite
                            ? Agreement.differenceFromOracle(dtype, part, answers.get(i))
                            : Agreement.difference(dtype, part, answers.get(i));
                    if (!what.isEmpty()) {
                        return what;
                    }
                }
            }
            return "";
        }
    }

    @BeforeAll
    static void readAll() throws IOException {
        Path root = SharedFolder.need("models-more");
        for (Path parent : List.of(root, root.resolve("reported"))) {
            try (Stream<Path> folders = Files.list(parent)) {
                folders.filter(f -> Files.exists(f.resolve("output_0.bin")))
                        .sorted()
                        .forEach(ForeignModelsTest::read);
            }
        }
    }

    private static void read(Path folder) {
        String name = folder.getFileName().toString();
        Path tflite = folder.resolve("model.tflite");
        boolean isTflite = Files.exists(tflite);
        try {
            if (isTflite) {
                CASES.add(read(folder, read(tflite, name, TfliteRounding.MICRO), true));
                CASES_OF_LITE.add(read(folder, read(tflite, name + "_lite", TfliteRounding.LITE), true));
            } else {
                CASES.add(read(folder, OnnxFrontend.read(folder.resolve("model.onnx"), name, InputShapes.NONE), false));
            }
        } catch (KilnException e) {
            REFUSED.put(name, e.getMessage());
        }
    }

    private static Function read(Path tflite, String name, TfliteRounding rounding) {
        return TfliteFrontend.read(tflite, name, InputShapes.NONE, CustomOperators.NONE, rounding, ReadLimits.STANDARD);
    }

    private static Case read(Path folder, Function function, boolean isTflite) {
        List<List<Bytes>> inputs = new ArrayList<>();
        List<Bytes> expected = new ArrayList<>();
        for (int k = 0; Files.exists(folder.resolve("output_" + k + ".bin")); k++) {
            inputs.add(inputs(function, folder.resolve("input_" + k + ".bin")));
            expected.add(GoldenModels.read(folder.resolve("output_" + k + ".bin")));
        }
        return new Case(folder.getFileName().toString(), function, inputs, expected, isTflite);
    }

    private static List<Bytes> inputs(Function function, Path file) {
        ByteBuffer all = GoldenModels.read(file).buffer();
        return function.params().stream()
                .map(parameter -> next(all, parameter.type().bytes()))
                .toList();
    }

    private static Bytes next(ByteBuffer from, long size) {
        byte[] part = new byte[(int) size];
        from.get(part);
        return Bytes.wrap(part);
    }

    @Test
    void theInterpreterAnswersAsTheirRuntime() {
        assertThat(REFUSED.keySet()).noneMatch(name -> READ.stream().anyMatch(name::startsWith));
        assertThat(different(CASES).keySet()).isEqualTo(OTHERWISE.keySet());
    }

    /** Those without answers, which are their runtimes' to give: the files of others, and models that the runtimes refuse. */
    @Test
    void theOnnxModelsWithoutAnswersAreRead() throws IOException {
        Path root = SharedFolder.need("models-more");
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(file -> file.toString().endsWith(".onnx"))
                    .filter(file -> !Files.exists(file.resolveSibling("output_0.bin")))
                    .filter(file -> !file.toString().contains("tree-"))
                    .sorted()
                    .toList();
        }
        assertThat(files)
                .hasSizeGreaterThan(3)
                .allSatisfy(file -> assertThat(
                                OnnxFrontend.read(file, "m", InputShapes.NONE).results())
                        .isNotEmpty());
    }

    @Test
    void theTensorFlowLiteFilesOfOthersAreRead() throws IOException {
        Path root = SharedFolder.need("models-more").resolve("real");
        List<Path> files;
        try (Stream<Path> all = Files.list(root)) {
            files = all.filter(file -> file.toString().endsWith(".tflite"))
                    .sorted()
                    .toList();
        }
        assertThat(files)
                .hasSizeGreaterThan(2)
                .allSatisfy(file ->
                        assertThat(TfliteFrontend.read(file, "m").results()).isNotEmpty());
    }

    @Test
    void theInterpreterAnswersAsTensorFlowLiteWithItsRounding() {
        assertThat(CASES_OF_LITE).isNotEmpty();
        assertThat(different(CASES_OF_LITE).keySet()).allMatch(name -> DENORMAL.equals(OTHERWISE.get(name)));
    }

    private static Map<String, String> different(List<Case> cases) {
        Map<String, String> different = new TreeMap<>();
        for (Case one : cases) {
            String what = one.difference();
            if (!what.isEmpty()) {
                different.put(one.name(), what);
            }
        }
        return different;
    }

    @Test
    void generatedCAnswersAsTheInterpreter() {
        List<Case> cases = Stream.concat(
                        CASES.stream(), CASES_OF_LITE.stream().filter(one -> OTHERWISE.containsKey(one.name())))
                .toList();
        List<CompiledModel> models = cases.stream()
                .map(one -> ModelCompiler.compile(
                        RequestDraft.of(Path.of(one.name()), "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                                .name(one.function().name())
                                .build(),
                        one.function()))
                .toList();
        HostProgram program = HostProgram.build(
                folder,
                models.stream().map(model -> model.library().metadata()).toList(),
                models.stream()
                        .map(model -> model.library().artifacts().artifacts())
                        .toList());
        int rounds = cases.stream().mapToInt(one -> one.inputs().size()).max().orElse(0);
        ByteBuffer answers = program.run(IntStream.range(0, rounds)
                        .boxed()
                        .flatMap(round -> cases.stream()
                                .flatMap(one ->
                                        one.inputs().get(round % one.inputs().size()).stream()))
                        .toList())
                .buffer();
        Map<String, String> wrong = new TreeMap<>();
        for (int round = 0; round < rounds; round++) {
            for (Case one : cases) {
                List<Bytes> expected = one.answer(round % one.inputs().size());
                for (int i = 0; i < expected.size(); i++) {
                    Bytes actual = next(answers, expected.get(i).size());
                    String what = Agreement.difference(one.outputs().get(i).dtype(), expected.get(i), actual);
                    if (!what.isEmpty()) {
                        wrong.put(one.function().name(), what);
                    }
                }
            }
        }
        assertThat(wrong).isEmpty();
    }
}
