// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_ADD;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_AND;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_MAXIMUM;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_MINIMUM;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_MULTIPLY;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_SHIFT_LEFT;
import static org.tensorflow.lite.schema.TensorType.BOOL;
import static org.tensorflow.lite.schema.TensorType.FLOAT32;
import static org.tensorflow.lite.schema.TensorType.INT16;
import static org.tensorflow.lite.schema.TensorType.INT32;
import static org.tensorflow.lite.schema.TensorType.INT64;
import static org.tensorflow.lite.schema.TensorType.INT8;
import static org.tensorflow.lite.schema.TensorType.UINT8;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;

/** Functions of one or two elements that TensorFlow Lite has and TensorFlow Lite Micro lacks, or has for fewer types. */
final class FunctionCases {
    private static final int MOST_RANK = 4;

    static final List<OperatorCases> ALL = List.of(
            OperatorCases.of("GELU", FunctionCases::gelu),
            OperatorCases.of("GELU_UINT8", d -> {
                d.unsigned();
                gelu(d);
            }),
            OperatorCases.of("EXP_QUANTIZED", FunctionCases::exponential),
            OperatorCases.of("LOG_QUANTIZED", d -> table(d, BuiltinOperator.LOG, 2, d.tensor(d.oneOf(INT8, INT16)))),
            OperatorCases.of("RSQRT_INT16", FunctionCases::inverseRoot),
            OperatorCases.of("SQRT_QUANTIZED", d -> table(d, BuiltinOperator.SQRT, 2, d.tensor(d.oneOf(INT8, INT16))))
                    .withoutOracle("TensorFlow Lite 2.20 has no kernel for quantized integers; a later release has"),
            OperatorCases.of("NEG_INTEGERS", FunctionCases::negative),
            OperatorCases.of("ABS_INT32", d -> plain(d, BuiltinOperator.ABS, INT32)),
            OperatorCases.of("SIGN", d -> plain(d, BuiltinOperator.SIGN, d.oneOf(FLOAT32, INT32))),
            OperatorCases.of("RELU_N1_TO_1", d -> relu(d, BuiltinOperator.RELU_N1_TO_1)),
            OperatorCases.of("RELU_0_TO_1", d -> relu(d, BuiltinOperator.RELU_0_TO_1)),
            OperatorCases.of("RELU_N1_TO_1_UINT8", d -> {
                d.unsigned();
                relu(d, BuiltinOperator.RELU_N1_TO_1);
            }),
            OperatorCases.of("POW", FunctionCases::power),
            OperatorCases.of("POW_INT32", FunctionCases::wholePower),
            OperatorCases.of("ATAN2", FunctionCases::angle),
            OperatorCases.of(
                    "BITWISE_XOR", d -> bits(d, BuiltinOperator.BITWISE_XOR, false, INT8, UINT8, INT16, INT32)),
            OperatorCases.of("RIGHT_SHIFT", d -> bits(d, BuiltinOperator.RIGHT_SHIFT, true, INT8, UINT8, INT16, INT32)),
            OperatorCases.of("CAST_LONG", FunctionCases::cast),
            OperatorCases.of("BITCAST", FunctionCases::bitcast),
            OperatorCases.of("BUCKETIZE", FunctionCases::bucketize),
            OperatorCases.of("RANK", FunctionCases::rank),
            OperatorCases.of("STABLEHLO_ARITHMETIC", FunctionCases::stablehlo),
            OperatorCases.of(
                    "STABLEHLO_AND", d -> bits(d, STABLEHLO_AND.code(), false, BOOL, INT8, INT16, INT32, INT64)),
            OperatorCases.of(
                    "STABLEHLO_SHIFT_LEFT", d -> bits(d, STABLEHLO_SHIFT_LEFT.code(), true, INT8, INT16, INT32)));

    private FunctionCases() {}

    private static int[] shape(Draw d) {
        return d.shape(1, MOST_RANK);
    }

    private static void table(Draw d, int builtin, int version, TensorSpec as) {
        d.input(d.like(as, shape(d)));
        d.compute(d.tensor(as.type()), builtin, version, Options.none());
    }

    private static void plain(Draw d, int builtin, byte type) {
        d.inputOfAnything(TensorSpec.of("x", type, shape(d)));
        d.compute(TensorSpec.of("y", type), builtin, 1, Options.none());
    }

    private static void gelu(Draw d) {
        byte type = d.oneOf(FLOAT32, INT8, INT16);
        // The kernel multiplies infinity by 0.
        d.inputOfNumbers(d.tensor(type, shape(d)));
        TensorSpec out = d.tensor(type);
        Options options = Options.table(BuiltinOptions.GeluOptions, Field.bool(0, d.coin()));
        d.compute(out, BuiltinOperator.GELU, type == FLOAT32 ? 1 : 2, options);
    }

    /** Beyond e^88 floats are infinite, and the kernels' conversion of what is beyond 32 bits is not defined. */
    private static void exponential(Draw d) {
        TensorSpec as = d.tensor(d.oneOf(INT8, INT16));
        float most = as.type() == INT8 ? 10f / 256 : 10f / 32768;
        float scale = Math.min(as.scales().get(0), most * d.oneOf(0.1f, 0.5f, 1f));
        table(d, BuiltinOperator.EXP, 2, as.quantized(scale, as.zeroPoints().get(0)));
    }

    private static void inverseRoot(Draw d) {
        d.input(d.tensor(INT16, shape(d)), 0, Short.MAX_VALUE);
        d.compute(d.tensor(INT16), BuiltinOperator.RSQRT, 3, Options.none());
    }

    private static void negative(Draw d) {
        byte type = d.oneOf(INT8, INT16, INT32, INT64);
        TensorSpec in = TensorSpec.of("x", type, shape(d));
        TensorSpec out = TensorSpec.of("y", type);
        float scale = d.scale();
        int zeroPoint = type == INT8 ? d.between(-127, 127) : 0;
        boolean isScaled = type == INT8 || type == INT16;
        d.input(isScaled ? in.quantized(scale, zeroPoint) : in);
        d.compute(isScaled ? out.quantized(scale, -zeroPoint) : out, BuiltinOperator.NEG, 1, Options.none());
    }

    private static void relu(Draw d, int builtin) {
        UnaryCases.same(d, builtin, MOST_RANK, FLOAT32, INT8);
    }

    private static void power(Draw d) {
        int[] shape = shape(d);
        d.inputOfAnything(d.tensor(FLOAT32, shape));
        d.inputOrConstant(d.tensor(FLOAT32, d.broadcastsTo(shape)));
        d.compute(d.tensor(FLOAT32), BuiltinOperator.POW, 1, Options.none());
    }

    /** Beyond 32 bits the kernel's conversion is not defined. */
    private static void wholePower(Draw d) {
        int[] shape = shape(d);
        d.input(TensorSpec.of("x", INT32, shape), -7, 7);
        d.input(TensorSpec.of("e", INT32, d.broadcastsTo(shape)), 0, 11);
        d.compute(TensorSpec.of("y", INT32), BuiltinOperator.POW, 1, Options.none());
    }

    private static void angle(Draw d) {
        int[] shape = shape(d);
        d.inputOfAnything(d.tensor(FLOAT32, shape));
        d.inputOfAnything(d.tensor(FLOAT32, shape));
        d.compute(d.tensor(FLOAT32), BuiltinOperator.ATAN2, 1, Options.none());
    }

    /** Integers of one of some types, by a second tensor of which a shift takes less. */
    private static void bits(Draw d, int builtin, boolean isShift, Byte... types) {
        byte type = d.oneOf(types);
        int[] shape = shape(d);
        d.input(TensorSpec.of("x", type, shape));
        TensorSpec by = TensorSpec.of("z", type, shape);
        if (isShift) {
            d.input(by, 0, 7);
        } else {
            d.input(by);
        }
        d.compute(TensorSpec.of("y", type), builtin, 1, Options.none());
    }

    private static void bitcast(Draw d) {
        int[] shape = shape(d);
        byte from = d.oneOf(FLOAT32, INT32, INT16, INT8);
        byte to = from == FLOAT32 ? INT32 : from == INT32 ? FLOAT32 : from == INT8 ? UINT8 : from;
        d.inputOfNumbers(TensorSpec.of("x", from, shape));
        d.compute(TensorSpec.of("y", to), BuiltinOperator.BITCAST, 1, Options.none());
    }

    private static void bucketize(Draw d) {
        byte type = d.oneOf(FLOAT32, INT32);
        int[] shape = shape(d);
        float[] boundaries = new float[d.between(1, 9)];
        for (int i = 0; i < boundaries.length; i++) {
            boundaries[i] = (i == 0 ? -2 : boundaries[i - 1]) + d.between(1, 4) / 4f;
        }
        d.inputOfNumbers(TensorSpec.of("x", type, shape));
        Options options = Options.table(BuiltinOptions.BucketizeOptions, Field.floats(0, boundaries));
        d.compute(TensorSpec.of("y", INT32), BuiltinOperator.BUCKETIZE, 1, options);
    }

    private static void rank(Draw d) {
        d.input(d.tensor(FLOAT32, shape(d)));
        d.compute(TensorSpec.of("y", INT32), BuiltinOperator.RANK, 1, Options.none());
    }

    private static void stablehlo(Draw d) {
        int code = d.oneOf(
                STABLEHLO_ADD.code(), STABLEHLO_MULTIPLY.code(), STABLEHLO_MAXIMUM.code(), STABLEHLO_MINIMUM.code());
        byte type = d.oneOf(FLOAT32, INT16, INT32, INT64);
        int[] shape = shape(d);
        d.inputOfNumbers(TensorSpec.of("x", type, shape));
        d.inputOfNumbers(TensorSpec.of("z", type, shape));
        d.compute(TensorSpec.of("y", type), code, 1, Options.none());
    }

    private static void cast(Draw d) {
        int[] shape = shape(d);
        byte from = d.oneOf(INT64, BOOL, INT8, INT16, INT32, FLOAT32);
        d.inputOfNumbers(TensorSpec.of("x", from, shape));
        byte to = from == INT64 ? d.oneOf(FLOAT32, INT8, INT16, INT32, BOOL) : d.oneOf(INT64, BOOL);
        d.compute(TensorSpec.of("y", to), BuiltinOperator.CAST, 1, Options.none());
    }
}
