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
        return OperatorCases.of(name, d -> same(d, builtin, MOST_RANK, types));
    }

    /** One of some types, also of the result. */
    static void same(Draw d, int builtin, int mostRank, Byte... types) {
        byte type = d.oneOf(types);
        d.inputOfAnything(d.tensor(type, d.shape(1, mostRank)));
        d.compute(d.tensor(type), builtin, 1, Options.none());
    }

    private static int[] shape(Draw d) {
        return d.shape(1, MOST_RANK);
    }

    /** The kernel takes no output scale far below the input's. */
    private static void hardSwish(Draw d) {
        TensorSpec in = d.tensor(INT8, shape(d));
        d.input(in);
        TensorSpec out = d.tensor(INT8);
        float scale = in.scales().get(0) * d.oneOf(0.1f, 0.7f, 1f, 3f);
        d.compute(out.quantized(scale, out.zeroPoints().get(0)), BuiltinOperator.HARD_SWISH, 1, Options.none());
    }

    private static void rsqrt(Draw d) {
        TensorSpec in = d.tensor(INT8, shape(d));
        d.input(in, in.zeroPoints().get(0).intValue(), Byte.MAX_VALUE);
        d.compute(d.tensor(INT8), BuiltinOperator.RSQRT, 2, Options.none());
    }

    private static void leakyRelu(Draw d) {
        byte type = d.oneOf(FLOAT32, INT8, INT16);
        int x = d.inputOfAnything(d.tensor(type, shape(d)));
        d.result(d.tensor(type));
        Field alpha = Field.float32(0, d.oneOf(0.1f, 0.3f, 2f, -0.5f, d.scale()));
        d.operator(BuiltinOperator.LEAKY_RELU, 2, Options.table(BuiltinOptions.LeakyReluOptions, alpha), x);
    }

    private static void sigmoid(Draw d, int builtin, float scale, int zeroPoint) {
        byte type = d.oneOf(FLOAT32, INT8, INT16);
        TensorSpec in = d.tensor(type, shape(d));
        if (type == INT16 && d.coin()) {
            in = in.quantized(d.oneOf(1f / 4096, 1f / 2048, 1f / 8192), 0);
        }
        d.inputOfAnything(in);
        TensorSpec out = d.tensor(type);
        d.compute(
                type == FLOAT32 ? out : type == INT8 ? out.quantized(scale, zeroPoint) : out.quantized(1f / 32768, 0),
                builtin,
                3,
                Options.none());
    }

    private static void cast(Draw d) {
        int[] shape = shape(d);
        byte from = d.oneOf(FLOAT32, INT8, UINT8, INT16, INT32, UINT32, BOOL);
        d.inputOfNumbers(TensorSpec.of("x", from, shape));
        // C++ does not define what floats become that are beyond the integers' range.
        byte to = from == FLOAT32
                ? d.oneOf(FLOAT32, INT8, INT16, INT32)
                : d.oneOf(FLOAT32, INT8, UINT8, INT16, INT32, UINT32);
        d.compute(TensorSpec.of("y", to), BuiltinOperator.CAST, 1, Options.none());
    }

    private static void castFloats(Draw d) {
        d.inputOfAnything(TensorSpec.of("x", FLOAT32, shape(d)));
        byte to = d.oneOf(INT8, UINT8, INT16, INT32, UINT32);
        d.compute(TensorSpec.of("y", to), BuiltinOperator.CAST, 1, Options.none());
    }

    private static void quantizeFloats(Draw d) {
        d.inputOfAnything(d.tensor(FLOAT32, shape(d)));
        d.compute(d.tensor(d.oneOf(INT8, INT16)), BuiltinOperator.QUANTIZE, 2, Options.none());
    }

    private static void quantize(Draw d) {
        int[] shape = shape(d);
        byte from = d.oneOf(FLOAT32, INT8, INT16, INT32, UINT8);
        byte to = from == UINT8
                ? INT8
                : from == INT8 ? d.oneOf(INT8, UINT8) : from == INT16 ? d.oneOf(INT16, INT32) : d.oneOf(INT8, INT16);
        TensorSpec in = d.tensor(from, shape);
        d.inputOfNumbers(from == INT32 ? in.quantized(d.scale() / 4, 0) : in);
        TensorSpec out = d.tensor(to);
        TensorSpec result = to == INT32 ? out.quantized(d.scale() / 4096, 0) : out;
        d.compute(result, BuiltinOperator.QUANTIZE, 2, Options.none());
    }

    private static void dequantize(Draw d) {
        int[] shape = shape(d);
        d.input(d.tensor(d.oneOf(INT8, UINT8, INT16), shape));
        d.compute(d.tensor(FLOAT32), BuiltinOperator.DEQUANTIZE, 3, Options.none());
    }

    private static void zeros(Draw d) {
        int[] shape = shape(d);
        TensorSpec in = TensorSpec.of("x", d.oneOf(FLOAT32, INT32, INT64), shape);
        d.input(in);
        d.compute(TensorSpec.of("y", in.type()), BuiltinOperator.ZEROS_LIKE, 1, Options.none());
    }

    private static void fill(Draw d) {
        int[] shape = d.shape(1, 4);
        byte type = d.oneOf(FLOAT32, INT32, INT8);
        d.add(TensorSpec.int32("dims", shape));
        d.input(TensorSpec.of("x", type));
        d.compute(TensorSpec.of("y", type), BuiltinOperator.FILL, 1, Options.none());
    }
}
