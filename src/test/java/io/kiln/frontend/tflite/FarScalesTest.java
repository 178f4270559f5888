// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.ir.Function;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Element-wise operators whose scales are so far apart that quotients and products are infinite or vanish: refused with a message, or compiled. */
class FarScalesTest {
    private static final List<Float> SCALES = List.of(Float.MIN_VALUE, 1e-20f, 1f, 1e20f, 3e38f);

    private static Options options(int builtin) {
        return switch (builtin) {
            case BuiltinOperator.LEAKY_RELU -> Options.table(BuiltinOptions.LeakyReluOptions, Field.float32(0, 0.3f));
            case BuiltinOperator.ADD -> Options.add(Options.NO_ACTIVATION);
            case BuiltinOperator.SUB -> Options.table(BuiltinOptions.SubOptions, Field.int8(0, 0));
            case BuiltinOperator.MUL -> Options.table(BuiltinOptions.MulOptions, Field.int8(0, 0));
            case BuiltinOperator.DIV -> Options.table(BuiltinOptions.DivOptions, Field.int8(0, 0));
            default -> Options.none();
        };
    }

    private static void read(int builtin, TfliteRounding rounding, TensorSpec... tensors) {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int[] in = new int[tensors.length - 1];
        for (int i = 0; i < in.length; i++) {
            in[i] = model.tensor(tensors[i]);
        }
        int out = model.tensor(tensors[in.length]);
        model.operator(builtin, 2, options(builtin), in, out).inputs(in).outputs(out);
        try {
            Function function = TfliteFrontend.read(
                    Bytes.wrap(model.build()), "far.tflite", "far", InputShapes.NONE, CustomOperators.NONE, rounding);
            CompileRequest request =
                    RequestDraft.of(Path.of("far.tflite"), "c").name("far").build();
            assertThat(ModelCompiler.compile(request, function).library()).isNotNull();
        } catch (KilnException refused) {
            assertThat(refused.getMessage()).contains("operator #0");
        }
    }

    private static TensorSpec tensor(String name, byte type, float scale) {
        return TensorSpec.of(name, type, 4).quantized(scale, 0);
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                BuiltinOperator.ADD,
                BuiltinOperator.SUB,
                BuiltinOperator.MUL,
                BuiltinOperator.DIV,
                BuiltinOperator.SQUARED_DIFFERENCE,
                BuiltinOperator.PRELU,
                BuiltinOperator.LESS
            })
    void ofTwoOperands(int builtin) {
        byte result = builtin == BuiltinOperator.LESS ? TensorType.BOOL : TensorType.INT8;
        for (TfliteRounding rounding : TfliteRounding.values()) {
            for (float lhs : SCALES) {
                for (float rhs : SCALES) {
                    for (float out : SCALES) {
                        read(
                                builtin,
                                rounding,
                                tensor("x", TensorType.INT8, lhs),
                                tensor("y", TensorType.INT8, rhs),
                                tensor("z", result, out));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                BuiltinOperator.ABS,
                BuiltinOperator.RSQRT,
                BuiltinOperator.ELU,
                BuiltinOperator.HARD_SWISH,
                BuiltinOperator.RELU,
                BuiltinOperator.RELU6,
                BuiltinOperator.LEAKY_RELU,
                BuiltinOperator.QUANTIZE,
                BuiltinOperator.ADD_N
            })
    void ofOneOperand(int builtin) {
        for (TfliteRounding rounding : TfliteRounding.values()) {
            for (byte type : List.of(TensorType.INT8, TensorType.INT16)) {
                for (float in : SCALES) {
                    for (float out : SCALES) {
                        read(builtin, rounding, tensor("x", type, in), tensor("y", type, out));
                    }
                }
            }
        }
    }
}
