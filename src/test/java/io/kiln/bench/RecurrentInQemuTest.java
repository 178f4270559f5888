// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Core;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.single.OperatorCases;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Layers with state, products of matrices and dense layers of int16, which have kernels of their own, of random shapes, in QEMU. */
class RecurrentInQemuTest {
    private static final Set<String> OPERATORS = Set.of(
            "SVDF_INT16",
            "LSTM_INT8",
            "LSTM_INT16",
            "FULLY_CONNECTED_INT16",
            "BATCH_MATMUL_INT8",
            "BATCH_MATMUL_INT16",
            "BATCH_MATMUL_FLOAT");

    /** Also with TensorFlow Lite's rounding, whose arithmetic is another one. */
    private static final Set<String> ROUNDED_OTHERWISE = Set.of(
            "LSTM_INT8",
            "FULLY_CONNECTED",
            "FULLY_CONNECTED_INT16",
            "SUM",
            "FULLY_CONNECTED_HYBRID",
            "CONV_2D_HYBRID",
            "DEPTHWISE_CONV_2D_HYBRID");

    private static final int CASES = 4;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"M4F, gnu", "M4F, clang", "M55, gnu", "M55, clang", "M3, gnu", "M0, gnu", "M0, clang", "RV32, gnu"})
    void answerAsTheInterpreterDoes(String coreName, String toolchain) {
        Core core = BenchTest.ready(coreName, toolchain);
        String board = core.board();
        String target = core.target();
        List<ModelLibrary> models = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        List<Bytes> expected = new ArrayList<>();
        for (Function function : functions()) {
            List<Bytes> own = new ArrayList<>();
            for (Parameter parameter : function.params()) {
                own.add(RandomOperators.input(parameter.type(), 7L + models.size()));
            }
            CompileRequest request = RequestDraft.of(Path.of("random"), target)
                    .name(function.name())
                    .build();
            models.add(ModelCompiler.compile(request, function).library());
            inputs.addAll(own);
            expected.add(Interpreter.run(function, own).get(0));
        }
        for (String schedule : List.of("ring(kernels)", "steps(kernels)", "panels(", "matrix(")) {
            assertThat(models)
                    .anyMatch(model -> model.metadata().operators().toString().contains(schedule));
        }
        Bytes actual = OperatorsImage.run(folder, board, target, toolchain, Optimize.SPEED, models, inputs);
        int offset = 0;
        for (int i = 0; i < models.size(); i++) {
            byte[] slice = new byte[expected.get(i).size()];
            actual.buffer().get(offset, slice);
            offset += slice.length;
            assertThat(GoldenModels.agree(
                            expected.get(i),
                            Bytes.wrap(slice),
                            GoldenModels.outputs(models.get(i).metadata())))
                    .as(models.get(i).metadata().name())
                    .isTrue();
        }
        assertThat(actual.size()).isEqualTo(offset);
    }

    private static List<Function> functions() {
        List<Function> functions = new ArrayList<>();
        for (OperatorCases operator : SingleOperatorTest.operators().toList()) {
            for (int seed = 0; seed < CASES; seed++) {
                if (OPERATORS.contains(operator.name())) {
                    functions.add(operator.function(seed, TfliteRounding.MICRO, "case" + functions.size()));
                }
                if (ROUNDED_OTHERWISE.contains(operator.name())) {
                    functions.add(operator.function(seed, TfliteRounding.LITE, "case" + functions.size()));
                }
            }
        }
        return functions;
    }
}
