// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.tensorflow.lite.schema.TensorType.FLOAT32;
import static org.tensorflow.lite.schema.TensorType.INT16;
import static org.tensorflow.lite.schema.TensorType.INT32;
import static org.tensorflow.lite.schema.TensorType.INT8;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;

/** Outputs of so small a scale that rescaled values fill 32 bits before the zero point is added. */
final class ExtremeScaleCases {
    private static final String OVERFLOWS =
            "the reference kernels' sums with the zero point overflow, which C++ does not define; ours saturate";

    static final List<OperatorCases> ALL = List.of(
            OperatorCases.of("TINY_SCALE_QUANTIZE", ExtremeScaleCases::quantize).withoutOracle(OVERFLOWS),
            OperatorCases.of("TINY_SCALE_FUNCTION", ExtremeScaleCases::function).withoutOracle(OVERFLOWS),
            OperatorCases.of("TINY_SCALE_LAYER", ExtremeScaleCases::layer).withoutOracle(OVERFLOWS));

    private ExtremeScaleCases() {}

    private static TensorSpec output(Draw d) {
        return TensorSpec.int8(
                "y",
                d.oneOf(9.8e-45f, Float.MIN_VALUE, Float.MIN_NORMAL, 1e-12f, 1e-9f, 1e-8f),
                d.oneOf(-128, -1, 1, 127));
    }

    private static void quantize(Draw d) {
        int[] shape = d.shape(1, 3);
        byte from = d.oneOf(FLOAT32, INT8, INT16, INT32);
        TensorSpec in = d.tensor(from, shape);
        d.inputOfAnything(from == INT32 ? in.quantized(d.scale(), 0) : in);
        d.compute(output(d), BuiltinOperator.QUANTIZE, 2, Options.none());
    }

    private static void function(Draw d) {
        int[] shape = d.shape(1, 3);
        int kind = d.between(0, 3);
        d.input(d.tensor(INT8, shape));
        if (kind == 0) {
            TensorSpec y = TensorSpec.int8("y", d.oneOf(2e-9f, 1e-8f), d.oneOf(-128, 127));
            Options alpha = Options.table(BuiltinOptions.LeakyReluOptions, Field.float32(0, d.oneOf(0.3f, -2f)));
            d.compute(y, BuiltinOperator.LEAKY_RELU, 2, alpha);
        } else if (kind == 1) {
            d.input(d.tensor(INT8, shape));
            Options none = Options.table(BuiltinOptions.MulOptions, Field.int8(0, 0));
            d.compute(output(d), BuiltinOperator.MUL, 2, none);
        } else if (kind == 2) {
            d.input(d.tensor(INT8, shape));
            d.compute(output(d), BuiltinOperator.PRELU, 1, Options.none());
        } else {
            d.add(TensorSpec.int32("axes", 0));
            TensorSpec y = output(d);
            Options keeps = Options.table(BuiltinOptions.ReducerOptions, Field.bool(0, true));
            d.compute(y, d.oneOf(BuiltinOperator.MEAN, BuiltinOperator.SUM), 2, keeps);
        }
    }

    private static void layer(Draw d) {
        int depth = d.between(1, 20);
        int units = d.between(1, 9);
        boolean isDense = d.coin();
        TensorSpec x = d.tensor(INT8, isDense ? new int[] {2, depth} : new int[] {1, 3, 2, depth});
        TensorSpec weights =
                d.weights(INT8, d.coin() ? 0 : -1, isDense ? new int[] {units, depth} : new int[] {units, 1, 1, depth});
        d.input(x);
        d.add(weights);
        d.add(d.bias(x, weights, units));
        if (isDense) {
            TensorSpec y = output(d);
            d.compute(y, BuiltinOperator.FULLY_CONNECTED, 5, Options.fullyConnected(d.activation(), false));
        } else {
            d.compute(output(d), BuiltinOperator.CONV_2D, 3, Options.conv2d(Options.SAME, 1, 1, (byte) 0, 1, 1));
        }
    }
}
