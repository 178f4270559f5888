// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Core;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.InputValues;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.frontend.onnx.network.Transformers;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Function;
import io.kiln.quantize.FloatNet;
import io.kiln.quantize.QuantizeOptions;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.Quantizer;
import io.kiln.quantize.run.Runs;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A transformer for keywords, an encoder of two layers and one that keeps keys and values, as floats, with pairs of quantizations and as int8
 * of TensorFlow Lite, on cores with kernels for their products.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class TransformersInQemuTest {
    private final List<Function> functions = new ArrayList<>();
    private final List<List<Bytes>> expected = new ArrayList<>();
    private final List<Bytes> inputs = new ArrayList<>();

    private static Function read(Bytes file, String name) {
        return OnnxFrontend.read(file, "m.onnx", name, InputShapes.NONE);
    }

    private Bytes input(Function function) {
        Bytes input = RandomOperators.input(function.params().get(0).type(), 3L + inputs.size());
        inputs.add(input);
        return input;
    }

    private void add(Function function) {
        functions.add(function);
        expected.add(Interpreter.run(function, List.of(input(function))));
    }

    /** The model with pairs, whose answers are also those of ONNX Runtime. */
    private void addPairs(Bytes file, String name) {
        Bytes pairs = Transformers.quantized(file);
        add(read(pairs, name));
        int last = functions.size() - 1;
        assertThat(expected.get(last))
                .isEqualTo(OnnxRuntime.run(pairs, functions.get(last).params(), List.of(inputs.get(last))));
    }

    /** The model as Kiln quantizes it, which has TensorFlow Lite's operators. */
    private void addQuantized(Function function) {
        add(new Quantizer(new TfliteMaker("m.tflite"), Runs.Progress.NONE)
                .quantize(function, FloatNet.samples(function, 6, 1), QuantizeOptions.of(QuantizeMode.INT8))
                .function());
    }

    /** Once for all cores and compilers. */
    @BeforeAll
    void draw() {
        add(read(Transformers.keywords(1), "keywords"));
        add(read(Transformers.encoder(1), "encoder"));
        add(InputValues.parse(Transformers.STATE).withState(read(Transformers.streaming(1), "streaming"), "m.onnx"));
        addPairs(Transformers.keywords(2), "keywords_pairs");
        addPairs(Transformers.encoder(2), "encoder_pairs");
        addQuantized(read(Transformers.keywords(3), "keywords_int8"));
        addQuantized(read(Transformers.encoder(3), "encoder_int8"));
    }

    @ParameterizedTest
    @CsvSource({"M4F, gnu", "M4F, clang", "M55, gnu", "M55, clang"})
    void answerAsTheInterpreterDoes(String coreName, String toolchain, @TempDir Path folder) {
        Core core = BenchTest.ready(coreName, toolchain);
        String board = core.board();
        String target = core.target();
        List<ModelLibrary> models = functions.stream()
                .map(function -> ModelCompiler.compile(
                                RequestDraft.of(Path.of("m.onnx"), target)
                                        .name(function.name())
                                        .build(),
                                function)
                        .library())
                .toList();

        Bytes actual = OperatorsImage.run(folder, board, target, toolchain, Optimize.SPEED, models, inputs);

        int offset = 0;
        for (int i = 0; i < models.size(); i++) {
            byte[] answer = new byte[expected.get(i).get(0).size()];
            actual.buffer().get(offset, answer);
            offset += answer.length;
            assertThat(GoldenModels.agree(
                            expected.get(i).get(0),
                            Bytes.wrap(answer),
                            GoldenModels.outputs(models.get(i).metadata())))
                    .as(functions.get(i).name())
                    .isTrue();
            String schedules = models.get(i).metadata().operators().toString();
            assertThat(schedules).as(functions.get(i).name()).containsAnyOf("panels(", "matrix(", "tvmgen_streaming");
        }
        assertThat(actual.size()).isEqualTo(offset);
    }
}
