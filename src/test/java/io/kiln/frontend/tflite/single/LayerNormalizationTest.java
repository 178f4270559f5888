// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kiln.base.Bytes;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** The layer normalization that TensorFlow's converter writes, operator by operator, of int8: integers from its input to its output. */
class LayerNormalizationTest {
    private static final int ROWS = 6;
    private static final int WIDTH = 32;
    private static final int CASES = 5;
    private static final Options KEEPS = Options.table(BuiltinOptions.ReducerOptions, Field.bool(0, true));

    @TempDir
    private Path folder;

    private static TfliteModelBuilder model() {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int x = model.tensor(TensorSpec.int8("x", 0.031f, 5, 1, ROWS, WIDTH));
        int axis = model.tensor(TensorSpec.int32("axis", 2));
        int mean = row(model, "mean", 0.0047f, 3);
        int difference = model.tensor(TensorSpec.int8("difference", 0.063f, -128, 1, ROWS, WIDTH));
        int variance = row(model, "variance", 0.027f, -128);
        int epsilon = model.tensor(TensorSpec.of("epsilon", TensorType.INT8)
                .quantized(0.0000039f, -128)
                .withData((byte) 127));
        int positive = row(model, "positive", 0.0271f, -128);
        int inverse = row(model, "inverse", 0.0021f, -128);
        int centred = model.tensor(TensorSpec.int8("centred", 0.033f, 2, 1, ROWS, WIDTH));
        int normal = model.tensor(TensorSpec.int8("normal", 0.017f, -1, 1, ROWS, WIDTH));
        int gamma = constant(model, "gamma", 0.009f);
        int scaled = model.tensor(TensorSpec.int8("scaled", 0.019f, 1, 1, ROWS, WIDTH));
        int beta = constant(model, "beta", 0.003f);
        int y = model.tensor(TensorSpec.int8("y", 0.02f, -4, 1, ROWS, WIDTH));
        byte none = Options.NO_ACTIVATION;
        Options product = Options.table(BuiltinOptions.MulOptions, Field.int8(0, none));
        return model.operator(BuiltinOperator.MEAN, 2, KEEPS, new int[] {x, axis}, mean)
                .operator(BuiltinOperator.SQUARED_DIFFERENCE, 2, Options.none(), new int[] {x, mean}, difference)
                .operator(BuiltinOperator.MEAN, 2, KEEPS, new int[] {difference, axis}, variance)
                .operator(BuiltinOperator.ADD, 2, Options.add(none), new int[] {variance, epsilon}, positive)
                .operator(BuiltinOperator.RSQRT, 2, Options.none(), new int[] {positive}, inverse)
                .operator(
                        BuiltinOperator.SUB,
                        2,
                        Options.table(BuiltinOptions.SubOptions, Field.int8(0, none)),
                        new int[] {x, mean},
                        centred)
                .operator(BuiltinOperator.MUL, 2, product, new int[] {centred, inverse}, normal)
                .operator(BuiltinOperator.MUL, 2, product, new int[] {normal, gamma}, scaled)
                .operator(BuiltinOperator.ADD, 2, Options.add(none), new int[] {scaled, beta}, y)
                .inputs(x)
                .outputs(y);
    }

    private static int row(TfliteModelBuilder model, String name, float scale, long zeroPoint) {
        return model.tensor(TensorSpec.int8(name, scale, zeroPoint, 1, ROWS, 1));
    }

    private static int constant(TfliteModelBuilder model, String name, float scale) {
        byte[] data = new byte[WIDTH];
        new Random(name.length()).nextBytes(data);
        return model.tensor(TensorSpec.int8(name, scale, 0, WIDTH).withData(data));
    }

    @Test
    void rowsAreNormalizedInIntegersAsInTensorFlowLite() {
        assumeTrue(TfliteOracle.missing().isEmpty(), "needs TensorFlow Lite's library");
        Function function = model().read();
        assertThat(function.types().values()).noneMatch(type -> type.dtype().isFloat());
        CompiledModel compiled = ModelCompiler.compile(
                RequestDraft.of(Path.of("m.tflite"), "c -mcpu=cortex-m4")
                        .name("m")
                        .build(),
                function);
        assertThat(compiled.library().artifacts().artifacts())
                .filteredOn(file -> file.fileName().endsWith("_lib1.c"))
                .isNotEmpty()
                .noneMatch(file -> file.content().text().contains("float "));
        HostProgram program = HostProgram.build(
                folder,
                List.of(compiled.library().metadata()),
                List.of(compiled.library().artifacts().artifacts()));
        for (int seed = 0; seed < CASES; seed++) {
            List<Bytes> input =
                    List.of(RandomOperators.input(function.params().get(0).type(), seed));
            Bytes expected = TfliteOracle.runAll(model().build(), List.of(input))
                    .get(0)
                    .get(0)
                    .data();
            assertThat(Interpreter.run(function, input).get(0)).isEqualTo(expected);
            assertThat(program.run(input)).isEqualTo(expected);
        }
    }
}
