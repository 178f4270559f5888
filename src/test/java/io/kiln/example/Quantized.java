// SPDX-License-Identifier: Apache-2.0
package io.kiln.example;

import io.kiln.frontend.tflite.LittleEndian;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.function.IntUnaryOperator;
import org.tensorflow.lite.schema.TensorType;

/** Post-training quantization of single tensors: asymmetric int8 values, symmetric int8 weights per channel, int32 bias. */
final class Quantized {
    private Quantized() {}

    /** The range of values that a tensor takes. */
    static final class Range {
        private double min;
        private double max;

        void see(double[][] values) {
            for (double[] row : values) {
                for (double value : row) {
                    min = Math.min(min, value);
                    max = Math.max(max, value);
                }
            }
        }

        float scale() {
            return (float) ((max - min) / 255);
        }

        int zeroPoint() {
            return (int) Math.rint(-128 - min / scale());
        }

        TensorSpec tensor(String name, int... shape) {
            return TensorSpec.int8(name, scale(), zeroPoint(), shape);
        }
    }

    /**
     * Weights with one scale per output channel.
     *
     * @param dimension the output channels' dimension
     * @param channelOf the output channel of an element
     */
    static TensorSpec weights(
            String name, double[] values, int channels, int dimension, IntUnaryOperator channelOf, int... shape) {
        float[] scales = new float[channels];
        for (int i = 0; i < values.length; i++) {
            int c = channelOf.applyAsInt(i);
            scales[c] = Math.max(scales[c], (float) (Math.abs(values[i]) / 127));
        }
        byte[] data = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            double steps = Math.rint(values[i] / scales[channelOf.applyAsInt(i)]);
            data[i] = (byte) Math.max(-127, Math.min(127, steps));
        }
        return TensorSpec.of(name, TensorType.INT8, shape)
                .quantized(scales, new long[channels], dimension)
                .withData(data);
    }

    /** A bias on the scale of the accumulator. */
    static TensorSpec bias(String name, double[] values, float inputScale, TensorSpec weights) {
        float[] scales = new float[weights.scales().size()];
        int[] data = new int[values.length];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = inputScale * weights.scales().get(i);
        }
        for (int i = 0; i < values.length; i++) {
            data[i] = (int) Math.rint(values[i] / scales[scales.length == 1 ? 0 : i]);
        }
        return TensorSpec.of(name, TensorType.INT32, values.length)
                .quantized(scales, new long[scales.length], 0)
                .withData(LittleEndian.ofInts(data));
    }
}
