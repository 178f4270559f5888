// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import java.util.Arrays;
import java.util.Random;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/**
 * A file with one layer whose weights are int4; convolutions are of 3x3.
 *
 * @param builtin the operator
 * @param width width and height of the image
 * @param in channels of the input
 * @param out channels of the output
 * @param perChannel whether each of them has its own scale
 * @param least smallest weight
 */
public record FourBitLayer(int builtin, int width, int in, int out, boolean perChannel, int least) {
    private boolean isDense() {
        return builtin == BuiltinOperator.FULLY_CONNECTED;
    }

    /** Whether each output channel has an input channel of its own. */
    public boolean isDepthwise() {
        return builtin == BuiltinOperator.DEPTHWISE_CONV_2D;
    }

    private int[] kernel() {
        if (isDense()) {
            return new int[] {out, in};
        }
        return isDepthwise() ? new int[] {1, 3, 3, out} : new int[] {out, 3, 3, in};
    }

    /** Number of weights. */
    public int weights() {
        return Arrays.stream(kernel()).reduce(1, Math::multiplyExact);
    }

    private int[] weightValues() {
        return new Random(weights()).ints(weights(), least, 8).toArray();
    }

    private TensorSpec weightTensor(byte type, byte... data) {
        float[] scales = new float[perChannel ? out : 1];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = 0.01f + 0.001f * i;
        }
        return TensorSpec.of("w", type, kernel())
                .quantized(scales, new long[scales.length], isDepthwise() ? 3 : 0)
                .withData(data);
    }

    private Options options() {
        if (isDense()) {
            return Options.fullyConnected(Options.NO_ACTIVATION, false);
        }
        return isDepthwise()
                ? Options.depthwise(Options.SAME, 1, 1, out / in, Options.NO_ACTIVATION, 1, 1)
                : Options.conv2d(Options.SAME, 1, 1, Options.NO_ACTIVATION, 1, 1);
    }

    /** The model with weights of int4. */
    public TfliteModelBuilder model() {
        return model(weightTensor(TensorType.INT4, packed()));
    }

    private byte[] packed() {
        byte[] packed = new byte[(weights() + 1) / 2];
        int[] values = weightValues();
        for (int i = 0; i < values.length; i++) {
            packed[i / 2] |= (byte) ((values[i] & 15) << (i % 2 * 4));
        }
        return packed;
    }

    /** The same with weights of int8, one of which does not fit four bits. */
    public TfliteModelBuilder unpackedModel() {
        byte[] bytes = new byte[weights()];
        int[] values = weightValues();
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        bytes[0] = 8;
        return model(weightTensor(TensorType.INT8, bytes));
    }

    /** A fully connected layer of float data with weights of int4. */
    public TfliteModelBuilder floatModel() {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int x = model.tensor(TensorSpec.float32("x", 1, in));
        int w = model.tensor(weightTensor(TensorType.INT4, packed()));
        int y = model.tensor(TensorSpec.float32("y", 1, out));
        return model.operator(builtin, 9, options(), new int[] {x, w, -1}, y)
                .inputs(x)
                .outputs(y);
    }

    /** The real weight of an output channel for an input of a fully connected layer. */
    public double realWeight(int channel, int input) {
        return weightValues()[channel * in + input] * (perChannel ? 0.01f + 0.001f * channel : 0.01f);
    }

    private TfliteModelBuilder model(TensorSpec weights) {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int x = model.tensor(
                TensorSpec.int8("x", 0.05f, 3, isDense() ? new int[] {1, in} : new int[] {1, width, width, in}));
        int w = model.tensor(weights);
        int b = model.tensor(
                TensorSpec.int32("b", new Random(out).ints(out, -500, 500).toArray()));
        int y = model.tensor(
                TensorSpec.int8("y", 0.09f, -5, isDense() ? new int[] {1, out} : new int[] {1, width, width, out}));
        return model.operator(builtin, isDense() ? 7 : 5, options(), new int[] {x, w, b}, y)
                .inputs(x)
                .outputs(y);
    }
}
