// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/** Scales, zero points, shapes and windows that cannot be. */
class BadTensorTest extends BadSums {
    @ParameterizedTest
    @ValueSource(floats = {0f, -1f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void impossibleScaleIsTold(float scale) {
        int x = model.tensor(TensorSpec.int8("x", scale, 0, 1, 4));
        int y = model.tensor(value("y"));
        add(x, x, y);
        model.inputs(x).outputs(y);
        problems("scale[0] is " + scale, "tensor #0 `x` int8 (1, 4)", "finite scales above 0");
    }

    @ParameterizedTest
    @ValueSource(longs = {128, -129, Long.MAX_VALUE, 1L << 32})
    void zeroPointOutsideTheTypeIsTold(long zeroPoint) {
        int x = model.tensor(TensorSpec.int8("x", 1f, zeroPoint, 1, 4));
        int y = model.tensor(value("y"));
        add(x, x, y);
        model.inputs(x).outputs(y);
        problems("zero_point[0] is " + zeroPoint, "a zero point from -128 to 127");
    }

    @ParameterizedTest
    @ValueSource(longs = {8, -9})
    void zeroPointOutsideFourBitsIsTold(long zeroPoint) {
        int x = model.tensor(TensorSpec.int8("x", 1f, 0, 1, 4));
        int w = model.tensor(TensorSpec.of("w", TensorType.INT4, 2, 4)
                .quantized(0.5f, zeroPoint)
                .withData(new byte[4]));
        int y = model.tensor(TensorSpec.int8("y", 1f, 0, 1, 2));
        model.operator(
                BuiltinOperator.FULLY_CONNECTED,
                7,
                Options.fullyConnected(Options.NO_ACTIVATION, false),
                new int[] {x, w, -1},
                y);
        model.inputs(x).outputs(y);
        problems("zero_point[0] is " + zeroPoint, "a zero point from -8 to 7");
    }

    @Test
    void quantizedDimensionAndChannelCountAreChecked() {
        int x = model.tensor(TensorSpec.int8("x", 0.5f, 0, 1, 4, 4, 2));
        int out = model.tensor(TensorSpec.int8("out", 0.5f, 0, 1, 4, 4, 3));
        TensorSpec weights = TensorSpec.of("w", TensorType.INT8, 3, 1, 1, 2).withData(new byte[6]);
        float[] three = {1f, 1f, 1f};
        float[] two = {1f, 1f};
        long[] zeros = {0, 0, 0};
        int[] wrong = {
            model.tensor(weights.quantized(three, zeros, 7)),
            model.tensor(weights.quantized(two, new long[] {0, 0}, 0)),
            model.tensor(weights.quantized(two, new long[] {0, 0}, 3)),
            model.tensor(weights.quantized(three, new long[] {0, 0}, 0)),
            model.tensor(weights.quantized(three, new long[] {0, 1, 0}, 0)),
        };
        for (int w : wrong) {
            int y = w == wrong[0] ? out : model.tensor(TensorSpec.int8("y" + w, 0.5f, 0, 1, 4, 4, 3));
            model.operator(
                    BuiltinOperator.CONV_2D,
                    3,
                    Options.conv2d(Options.SAME, 1, 1, Options.NO_ACTIVATION, 1, 1),
                    new int[] {x, w, -1},
                    y);
        }
        model.inputs(x).outputs(out);
        problems(
                "quantized_dimension is 7",
                "2 scales for 3 channels in dimension 0",
                "have 2 scales in dimension 3",
                "2 zero points for 3 scales",
                "have a zero point other than 0");
    }

    @Test
    void absurdShapesAreTold() {
        int x = model.tensor(TensorSpec.int8("x", 0.5f, 0, 1 << 30, 1 << 30, 1 << 30, 3));
        int y = model.tensor(TensorSpec.int8("y", 0.5f, 0, 1, -1));
        int z = model.tensor(TensorSpec.int8("z", 0.5f, 0, 1, 4));
        int deep = model.tensor(TensorSpec.int8("deep", 0.5f, 0, new int[100]));
        add(x, y, z);
        add(x, x, deep);
        model.inputs(x).outputs(z);
        problems("the tensor would take 3713820117856141", "dimension 1 is dynamic", "rank 100");
    }

    @Test
    void anInputWithoutElementsIsTold() {
        int x = model.tensor(TensorSpec.int8("x", 0.5f, 0, 0, 4));
        int y = model.tensor(TensorSpec.int8("y", 0.5f, 0, 1, 4));
        add(x, x, y);
        model.inputs(x).outputs(y);
        problems("the input leaves dimensions open: [0]", "Set kiln.inputShapes=x:?,4");
    }

    @Test
    void constantOfAnotherSizeThanItsShapeIsTold() {
        int x = model.tensor(value("x"));
        int c = model.tensor(value("c").withData(new byte[3]));
        int y = model.tensor(value("y"));
        add(x, c, y);
        model.inputs(x).outputs(y);
        problems("the constant has 3 bytes", "4 bytes for its shape and type");
    }

    @Test
    void outputShapeThatTheOperatorDoesNotComputeIsTold() {
        int x = model.tensor(value("x"));
        int y = model.tensor(TensorSpec.int8("y", 0.5f, 0, 1, 5));
        add(x, x, y);
        model.inputs(x).outputs(y);
        problems("it computes Tensor[(1, 4), int8] but its output is Tensor[(1, 5), int8]");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void impossibleStridesAndDilationAreTold(int number) {
        int x = model.tensor(TensorSpec.int8("x", 0.5f, 0, 1, 4, 4, 2));
        int w = model.tensor(TensorSpec.int8("w", 0.5f, 0, 1, 3, 3, 2).withData(new byte[18]));
        int y = model.tensor(TensorSpec.int8("y", 0.5f, 0, 1, 4, 4, 1));
        int z = model.tensor(TensorSpec.int8("z", 0.5f, 0, 1, 4, 4, 2));
        model.operator(
                        BuiltinOperator.CONV_2D,
                        3,
                        Options.conv2d(Options.SAME, number, 1, Options.NO_ACTIVATION, 1, number),
                        new int[] {x, w, -1},
                        y)
                .operator(
                        BuiltinOperator.MAX_POOL_2D,
                        2,
                        Options.pool(Options.VALID, 1, 1, number, number, Options.NO_ACTIVATION),
                        new int[] {x},
                        z)
                .inputs(x)
                .outputs(y, z);
        problems("stride is " + number + " x 1", "dilation is 1 x " + number, "window is " + number + " x " + number);
    }
}
