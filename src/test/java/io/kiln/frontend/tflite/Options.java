// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import com.google.flatbuffers.FlatBufferBuilder;
import java.util.function.ToIntFunction;
import org.tensorflow.lite.schema.AddOptions;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.Conv2DOptions;
import org.tensorflow.lite.schema.DepthwiseConv2DOptions;
import org.tensorflow.lite.schema.FullyConnectedOptions;
import org.tensorflow.lite.schema.Pool2DOptions;
import org.tensorflow.lite.schema.ReshapeOptions;
import org.tensorflow.lite.schema.SoftmaxOptions;

/** Builtin options of an operator to be written. */
public record Options(byte type, ToIntFunction<FlatBufferBuilder> writer) {
    public static final byte SAME = 0;
    public static final byte VALID = 1;
    public static final byte NO_ACTIVATION = 0;
    public static final byte RELU = 1;

    public static Options none() {
        return new Options(BuiltinOptions.NONE, b -> 0);
    }

    public static Options conv2d(
            byte padding, int strideH, int strideW, byte activation, int dilationH, int dilationW) {
        return new Options(
                BuiltinOptions.Conv2DOptions,
                b -> Conv2DOptions.createConv2DOptions(b, padding, strideW, strideH, activation, dilationW, dilationH));
    }

    public static Options depthwise(
            byte padding, int strideH, int strideW, int multiplier, byte activation, int dilationH, int dilationW) {
        return new Options(
                BuiltinOptions.DepthwiseConv2DOptions,
                b -> DepthwiseConv2DOptions.createDepthwiseConv2DOptions(
                        b, padding, strideW, strideH, multiplier, activation, dilationW, dilationH));
    }

    public static Options pool(byte padding, int strideH, int strideW, int height, int width, byte activation) {
        return new Options(
                BuiltinOptions.Pool2DOptions,
                b -> Pool2DOptions.createPool2DOptions(b, padding, strideW, strideH, width, height, activation));
    }

    public static Options fullyConnected(byte activation, boolean keepNumDims) {
        return new Options(
                BuiltinOptions.FullyConnectedOptions,
                b -> FullyConnectedOptions.createFullyConnectedOptions(b, activation, (byte) 0, keepNumDims, false));
    }

    public static Options softmax(float beta) {
        return new Options(BuiltinOptions.SoftmaxOptions, b -> SoftmaxOptions.createSoftmaxOptions(b, beta));
    }

    public static Options add(byte activation) {
        return new Options(BuiltinOptions.AddOptions, b -> AddOptions.createAddOptions(b, activation, false));
    }

    public static Options reshape(int... shape) {
        return new Options(
                BuiltinOptions.ReshapeOptions,
                b -> ReshapeOptions.createReshapeOptions(b, ReshapeOptions.createNewShapeVector(b, shape)));
    }
}
