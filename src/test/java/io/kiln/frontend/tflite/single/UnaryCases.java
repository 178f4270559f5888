// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.tensorflow.lite.schema.TensorType.BOOL;
import static org.tensorflow.lite.schema.TensorType.FLOAT32;
import static org.tensorflow.lite.schema.TensorType.INT16;
import static org.tensorflow.lite.schema.TensorType.INT32;
import static org.tensorflow.lite.schema.TensorType.INT64;
import static org.tensorflow.lite.schema.TensorType.INT8;
import static org.tensorflow.lite.schema.TensorType.UINT32;
import static org.tensorflow.lite.schema.TensorType.UINT8;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;

/** Functions of one element, conversions, and what makes tensors of one value. */
final class UnaryCases {
    private static final int MOST_RANK = 5;

    static final List<OperatorCases> ALL = List.of(
            real("ABS", BuiltinOperator.ABS),
            real("SQRT", BuiltinOperator.SQRT),
            real("RSQRT", BuiltinOperator.RSQRT),
            real("SQUARE", BuiltinOperator.SQUARE),
            real("EXP", BuiltinOperator.EXP),
            real("LOG", BuiltinOperator.LOG),
            real("SIN", BuiltinOperator.SIN),
            real("COS", BuiltinOperator.COS),
            real("NEG", BuiltinOperator.NEG),
            real("CEIL", BuiltinOperator.CEIL),
            real("FLOOR", BuiltinOperator.FLOOR),
            real("ROUND", BuiltinOperator.ROUND),
            real("ELU", BuiltinOperator.ELU),
            real("HARD_SWISH", BuiltinOperator.HARD_SWISH),
            same("LOGICAL_NOT", BuiltinOperator.LOGICAL_NOT, BOOL),
            same("ABS_QUANTIZED", BuiltinOperator.ABS, INT8, INT16),
            OperatorCases.of("HARD_SWISH_QUANTIZED", UnaryCases::hardSwish),
            same("ELU_QUANTIZED", BuiltinOperator.ELU, INT8)
                    .roundedOtherwise(
                            "TensorFlow Lite takes expm1, where elu.cc of TensorFlow Lite Micro takes exp and then 1"
                                    + " off"),
            OperatorCases.of("RSQRT_QUANTIZED", UnaryCases::rsqrt),
            same("RELU", BuiltinOperator.RELU, FLOAT32, INT8, INT16),
            same("RELU6", BuiltinOperator.RELU6, FLOAT32, INT8, INT16),
            OperatorCases.of("LEAKY_RELU", UnaryCases::leakyRelu),
            OperatorCases.of("LOGISTIC", d -> sigmoid(d, BuiltinOperator.LOGISTIC, 1f / 256, -128)),
            OperatorCases.of("TANH", d -> sigmoid(d, BuiltinOperator.TANH, 1f / 128, 0)),
            OperatorCases.of("CAST", UnaryCases::cast),
            OperatorCases.of("CAST_ANY_FLOAT", UnaryCases::castFloats)
                    .withoutOracle("C++ does not define what floats become that are beyond the integers' range"),
            OperatorCases.of("QUANTIZE", UnaryCases::quantize),
            OperatorCases.of("QUANTIZE_ANY_FLOAT", UnaryCases::quantizeFloats)
                    .withoutOracle("C++ does not define what floats become that are beyond the integers' range"),
            OperatorCases.of("DEQUANTIZE", UnaryCases::dequantize),
            OperatorCases.of("ZEROS_LIKE", UnaryCases::zeros),
            OperatorCases.of("FILL", UnaryCases::fill));

    private UnaryCases() {}

    private static OperatorCases real(String name, int builtin) {
        return same(name, builtin, FLOAT32);
    }

    private static OperatorCases same(String name, int builtin, Byte... types) {
        return OperatorCases.of(name, d -> {
            byte type = d.oneOf(types);
            int[] shape = d.shape(1, MOST_RANK);
            TensorSpec in = d.tensor(type, shape);
            int x = d.inputOfAnything(in);
            d.output(d.tensor(type, shape));
            d.operator(builtin, 1, Options.none(), x);
        });
    }

    /** The kernel takes no output scale far below the input's. */
    private static void hardSwish(Draw d) {
        int[] shape = d.shape(1, MOST_RANK);
        TensorSpec in = d.tensor(INT8, shape);
        int x = d.input(in);
        TensorSpec out = d.tensor(INT8, shape);
        d.output(out.quantized(
                in.scales().get(0) * d.oneOf(0.1f, 0.7f, 1f, 3f),
                out.zeroPoints().get(0)));
        d.operator(BuiltinOperator.HARD_SWISH, 1, Options.none(), x);
    }

    private static void rsqrt(Draw d) {
        int[] shape = d.shape(1, MOST_RANK);
        TensorSpec in = d.tensor(INT8, shape);
        int x = d.input(in, in.zeroPoints().get(0).intValue(), Byte.MAX_VALUE);
        d.output(d.tensor(INT8, shape));
        d.operator(BuiltinOperator.RSQRT, 2, Options.none(), x);
    }

    private static void leakyRelu(Draw d) {
        byte type = d.oneOf(FLOAT32, INT8, INT16);
        int[] shape = d.shape(1, MOST_RANK);
        int x = d.inputOfAnything(d.tensor(type, shape));
        d.output(d.tensor(type, shape));
        float alpha = d.oneOf(0.1f, 0.3f, 2f, -0.5f, d.scale());
        d.operator(
                BuiltinOperator.LEAKY_RELU,
                2,
                Options.table(BuiltinOptions.LeakyReluOptions, Field.float32(0, alpha)),
                x);
    }

    private static void sigmoid(Draw d, int builtin, float scale, int zeroPoint) {
        byte type = d.oneOf(FLOAT32, INT8, INT16);
        int[] shape = d.shape(1, MOST_RANK);
        TensorSpec in = d.tensor(type, shape);
        if (type == INT16 && d.coin()) {
            in = in.quantized(d.oneOf(1f / 4096, 1f / 2048, 1f / 8192), 0);
        }
        int x = d.inputOfAnything(in);
        TensorSpec out = d.tensor(type, shape);
        d.output(type == FLOAT32 ? out : type == INT8 ? out.quantized(scale, zeroPoint) : out.quantized(1f / 32768, 0));
        d.operator(builtin, 3, Options.none(), x);
    }

    private static void cast(Draw d) {
        int[] shape = d.shape(1, MOST_RANK);
        byte from = d.oneOf(FLOAT32, INT8, UINT8, INT16, INT32, UINT32, BOOL);
        // C++ does not define what floats become that are beyond the integers' range.
        byte to = from == FLOAT32
                ? d.oneOf(FLOAT32, INT8, INT16, INT32)
                : d.oneOf(FLOAT32, INT8, UINT8, INT16, INT32, UINT32);
        int x = d.inputOfNumbers(TensorSpec.of("x", from, shape));
        d.output(TensorSpec.of("y", to, shape));
        d.operator(BuiltinOperator.CAST, 1, Options.none(), x);
    }

    private static void castFloats(Draw d) {
        int[] shape = d.shape(1, MOST_RANK);
        int x = d.inputOfAnything(TensorSpec.of("x", FLOAT32, shape));
        d.output(TensorSpec.of("y", d.oneOf(INT8, UINT8, INT16, INT32, UINT32), shape));
        d.operator(BuiltinOperator.CAST, 1, Options.none(), x);
    }

    private static void quantizeFloats(Draw d) {
        int[] shape = d.shape(1, MOST_RANK);
        int x = d.inputOfAnything(d.tensor(FLOAT32, shape));
        d.output(d.tensor(d.oneOf(INT8, INT16), shape));
        d.operator(BuiltinOperator.QUANTIZE, 2, Options.none(), x);
    }

    private static void quantize(Draw d) {
        int[] shape = d.shape(1, MOST_RANK);
        byte from = d.oneOf(FLOAT32, INT8, INT16, INT32, UINT8);
        byte to = from == UINT8
                ? INT8
                : from == INT8 ? d.oneOf(INT8, UINT8) : from == INT16 ? d.oneOf(INT16, INT32) : d.oneOf(INT8, INT16);
        TensorSpec in = d.tensor(from, shape);
        int x = d.inputOfNumbers(from == INT32 ? in.quantized(d.scale() / 4, 0) : in);
        TensorSpec out = d.tensor(to, shape);
        d.output(to == INT32 ? out.quantized(d.scale() / 4096, 0) : out);
        d.operator(BuiltinOperator.QUANTIZE, 2, Options.none(), x);
    }

    private static void dequantize(Draw d) {
        int[] shape = d.shape(1, MOST_RANK);
        int x = d.input(d.tensor(d.oneOf(INT8, UINT8, INT16), shape));
        d.output(d.tensor(FLOAT32, shape));
        d.operator(BuiltinOperator.DEQUANTIZE, 3, Options.none(), x);
    }

    private static void zeros(Draw d) {
        int[] shape = d.shape(1, MOST_RANK);
        TensorSpec in = TensorSpec.of("x", d.oneOf(FLOAT32, INT32, INT64), shape);
        int x = d.input(in);
        d.output(TensorSpec.of("y", in.type(), shape));
        d.operator(BuiltinOperator.ZEROS_LIKE, 1, Options.none(), x);
    }

    private static void fill(Draw d) {
        int[] shape = d.shape(1, 4);
        byte type = d.oneOf(FLOAT32, INT32, INT8);
        int dims = d.add(TensorSpec.int32("dims", shape));
        int value = d.input(TensorSpec.of("x", type));
        d.output(TensorSpec.of("y", type, shape));
        d.operator(BuiltinOperator.FILL, 1, Options.none(), dims, value);
    }
}
