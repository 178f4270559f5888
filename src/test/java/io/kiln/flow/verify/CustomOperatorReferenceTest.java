// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ExecutorKind;
import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CallOptions;
import io.kiln.compile.Frontends;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.flow.verify.CompareLayersStep.OperatorReferences;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.lite.schema.BuiltinOperator;

/** Custom operators are held against C of the user's that computes the same on this computer. */
final class CustomOperatorReferenceTest {
    private static final String HEADER = """
            #include <stdint.h>
            int32_t my_op(const int8_t* input0, int8_t* output0);
            """;
    private static final String RIGHT = """
            #include "my_op.h"
            int32_t my_op(const int8_t* input0, int8_t* output0) {
              for (int32_t i = 0; i < 16; ++i) {
                output0[i] = (int8_t)(input0[i] / 2);
              }
              return 0;
            }
            """;
    private static final String WRONG = RIGHT.replace("input0[i] / 2", "input0[i] / 2 + (i == 3)");

    private static final String PLAIN = "MyOp:my_op:my_op.h";
    private static final String WITH_REFERENCE = PLAIN + ":::src/test/c/my_op.c";

    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @Test
    void aWrongOperatorOfTenIsNamed() {
        WholeFiles.write(folder.resolve("net.tflite"), ten());
        WholeFiles.write(folder.resolve("src/main/c/my_op.h"), HEADER);
        WholeFiles.write(folder.resolve("src/main/c/my_op.c"), RIGHT);
        WholeFiles.write(folder.resolve("src/test/c/my_op.c"), RIGHT);
        flow.compareLayers(spec(WITH_REFERENCE));
        assertThat(log.said())
                .contains("Model default: all 160 values of 10 operators are those of the reference interpreter");

        WholeFiles.write(folder.resolve("src/main/c/my_op.c"), WRONG);
        assertThatThrownBy(() -> flow.compareLayers(spec(WITH_REFERENCE)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the first wrong operator: x6[3] is ")
                .hasMessageContaining(" instead of ")
                .hasMessageContaining("; 1 of 16 values are wrong")
                .hasMessageContaining("(#5 CUSTOM MyOp `x6`) int8[1, 16]");
        assertThat(log.warnings()).isEmpty();

        // Nobody knows what it should compute; the four behind it are given what it computes.
        flow.compareLayers(spec(PLAIN));
        assertThat(log.warnings())
                .singleElement()
                .asString()
                .contains("(#5 CUSTOM MyOp `x6`) int8[1, 16] was not compared")
                .contains("<reference>");
        assertThat(log.said())
                .contains("Model default: all 144 values of 9 operators are those of the reference interpreter");
    }

    /** Constant inputs, several outputs, scales and options reach a reference as they reach the image. */
    @Test
    void aReferenceGetsWhatTheFunctionGets() {
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int x = builder.tensor(TensorSpec.int8("x", 1f, 0, 1, 2));
        int k = builder.tensor(TensorSpec.int8("k", 1f, 0, 1, 2).withData((byte) 10, (byte) 20));
        int a = builder.tensor(TensorSpec.int8("a", 1f, 0, 1, 2));
        int b = builder.tensor(TensorSpec.int8("b", 1f, 7, 1, 2));
        int y = builder.tensor(TensorSpec.int8("y", 1f, 7, 2));
        WholeFiles.write(
                folder.resolve("net.tflite"),
                builder.custom("Two", bytes(5), new int[] {x, k}, a, b)
                        .operator(BuiltinOperator.RESHAPE, 1, Options.reshape(2), new int[] {b}, y)
                        .inputs(x)
                        .outputs(a, y)
                        .build());
        WholeFiles.write(folder.resolve("two.c"), """
                #include <stdint.h>
                int32_t two(
                    const int8_t* input0, const int8_t* input1, int8_t* output0, int8_t* output1, const float* scales,
                    const int32_t* zero_points, const uint8_t* options, int32_t options_size) {
                  for (int32_t i = 0; i < 2; ++i) {
                    output0[i] = (int8_t)(input0[i] + input1[i] + (int32_t)scales[0]);
                    output1[i] = (int8_t)(input0[i] + options[0] + zero_points[3] + 100 * (options_size - 1));
                  }
                  return input0[0] == 100 ? 1 : 0;
                }
                """);
        BuildSpec spec = spec("Two:two:::quantization,options:two.c");
        Function function = Frontends.read(
                folder.resolve("net.tflite"),
                "net",
                InputShapes.NONE,
                spec.options().reading());
        OperatorReferences references = new OperatorReferences(spec, TestToolchains.environment(log));
        Map<Integer, Bytes> values =
                references.in(function, NONE, all -> Interpreter.runAll(function, List.of(bytes(1, 2)), all));
        assertThat(values.values()).contains(bytes(12, 23), bytes(13, 14));

        // The second case runs the same program, which ends with an error.
        assertThatThrownBy(() ->
                        references.in(function, NONE, all -> Interpreter.runAll(function, List.of(bytes(100, 2)), all)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("reference_0");
        assertThatThrownBy(() -> new OperatorReferences(
                                spec("Two:two:::quantization,options:none.c"), TestToolchains.environment(log))
                        .in(function, NONE, all -> Interpreter.runAll(function, List.of(bytes(1, 2)), all)))
                .hasMessageContaining("the reference of a custom operator is missing")
                .hasMessageContaining("none.c");
    }

    private static final Interpreter.OpaqueOperators NONE = (binding, args) -> {
        throw new IllegalStateException("all have references");
    };

    /** Ten operators, of which MyOp is the sixth. */
    private static byte[] ten() {
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int first = builder.tensor(TensorSpec.int8("x0", 1 / 32f, 0, 1, 16));
        int last = first;
        for (int i = 1; i <= 10; i++) {
            boolean isTanh = i % 2 == 0;
            int next = builder.tensor(TensorSpec.int8("x" + i, isTanh ? 1 / 128f : 1 / 256f, isTanh ? 0 : -128, 1, 16));
            if (i == 6) {
                builder.custom("MyOp", new int[] {last}, next);
            } else {
                builder.operator(
                        isTanh ? BuiltinOperator.TANH : BuiltinOperator.LOGISTIC,
                        1,
                        Options.none(),
                        new int[] {last},
                        next);
            }
            last = next;
        }
        return builder.inputs(first).outputs(last).build();
    }

    private BuildSpec spec(String operators) {
        SpecDraft builder = SpecDraft.of(
                new Layout(folder, folder.resolve("out"), "net"),
                List.of(new ModelSource(folder.resolve("net.tflite"), "default")),
                "mps2-an386");
        return builder.toolchain(Optional.of("clang"))
                .application("rpc")
                .calls(CallOptions.TYPED.with(ExecutorKind.GRAPH, true))
                .customOperators(CustomOperators.of(CustomOperators.parse(operators)))
                .build();
    }

    private static Bytes bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return Bytes.wrap(bytes);
    }
}
