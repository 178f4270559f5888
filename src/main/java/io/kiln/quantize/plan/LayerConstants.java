// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Conv2dTranspose;
import io.kiln.ir.op.layer.Dense;
import io.kiln.quantize.graph.Node;
import io.kiln.transform.LayerChannelOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The constants of a layer in integers.
 *
 * @param weights int8, zero point 0
 * @param scales scale of the weights: one, or one per output channel
 * @param bias int32 or int64 with scale {@code input * weight} and zero point 0
 */
public record LayerConstants(Constant weights, List<Float> scales, Optional<Constant> bias) {
    public LayerConstants {
        scales = List.copyOf(scales);
    }

    private static final int LARGEST = 127;
    private static final float NO_WEIGHTS = 1e-6f;

    /**
     * Quantizes a layer's constants (TensorFlow Lite, quantization_utils.cc): {@code scale = max|w| / 127}, per output
     * channel for convolutions and per tensor for fully connected layers, and {@code q = w * (127 / max|w|)} in single
     * precision. Where a bias would exceed half of int32, also if it is int64, the scale grows until it fits.
     *
     * <p>Rounding the weights shifts the mean of a channel. The bias takes that back: it gets the sum over the weights of {@code (w - scale *
     * q)} times the mean of the data that the weight meets, padding left aside.
     *
     * @param inputScale scale of the data
     * @param means mean of each input channel; empty for no correction
     */
    static LayerConstants of(Node node, float inputScale, Precision precision, Optional<double[]> means) {
        Constant weights = node.weights();
        LayerChannelOrder order = LayerChannelOrder.of(
                node.layer().orElseThrow(),
                weights.type().shape(),
                node.type().shape().dim(-1));
        boolean perTensor = node.op() instanceof Dense;
        float[] most = largest(weights, order, perTensor);
        node.bias().ifPresent(bias -> widen(most, bias, inputScale));
        List<Float> scales = new ArrayList<>();
        float[] inverse = new float[most.length];
        for (int i = 0; i < most.length; i++) {
            scales.add(most[i] == 0 ? NO_WEIGHTS : Math.max(most[i] / LARGEST, Float.MIN_NORMAL));
            inverse[i] = most[i] == 0 ? 0 : LARGEST / most[i];
        }
        Constant integers = QuantizedConstants.limited(
                weights, DType.INT8, -LARGEST, LARGEST, i -> weights.real(i) * at(inverse, order.channel(i)));
        Optional<float[]> shifts = means.filter(m -> !(node.op() instanceof Conv2dTranspose))
                .map(m -> new WeightRounding(node, integers, scales, order).shifts(m));
        float[] bias = corrected(node.bias(), shifts, order.channels());
        Constant real = node.bias().orElse(Constant.vector(bias));
        boolean hasBias = node.bias().isPresent() || shifts.isPresent();
        return new LayerConstants(
                integers,
                scales,
                hasBias ? Optional.of(bias(real, bias, scales, inputScale, precision)) : Optional.empty());
    }

    private static float[] largest(Constant weights, LayerChannelOrder order, boolean perTensor) {
        float[] most = new float[perTensor ? 1 : order.channels()];
        for (int i = 0; i < weights.elements(); i++) {
            int at = perTensor ? 0 : order.channel(i);
            most[at] = Math.max(most[at], Math.abs(weights.real(i)));
        }
        return most;
    }

    private static void widen(float[] most, Constant bias, float inputScale) {
        for (int c = 0; c < bias.elements(); c++) {
            float magnitude = Math.abs(bias.real(c));
            int at = most.length == 1 ? 0 : c;
            float scale = most[at] / LARGEST;
            if (magnitude >= 0.5f * inputScale * scale * Integer.MAX_VALUE && magnitude > 0) {
                most[at] = Math.max(most[at], 2 * magnitude / Integer.MAX_VALUE * LARGEST / inputScale);
            }
        }
    }

    private static float[] corrected(Optional<Constant> bias, Optional<float[]> shifts, int channels) {
        float[] corrected = new float[channels];
        for (int c = 0; c < channels; c++) {
            int channel = c;
            corrected[c] = bias.map(b -> b.real(channel)).orElse(0f)
                    + shifts.map(s -> s[channel]).orElse(0f);
        }
        return corrected;
    }

    private static Constant bias(
            Constant like, float[] bias, List<Float> scales, float inputScale, Precision precision) {
        DType dtype = precision.bias();
        return QuantizedConstants.limited(
                like,
                dtype,
                -Integer.MAX_VALUE,
                Integer.MAX_VALUE,
                c -> bias[c] * (1 / ((double) inputScale * scales.get(scales.size() == 1 ? 0 : c))));
    }

    private static float at(float[] values, int channel) {
        return values[values.length == 1 ? 0 : channel];
    }

    /**
     * What rounding does to the weights of a layer.
     *
     * @param node the layer
     * @param integers its weights as integers
     * @param scales their scales, one or one per output channel
     * @param order to which output channel a weight belongs
     */
    private record WeightRounding(Node node, Constant integers, List<Float> scales, LayerChannelOrder order) {
        /**
         * By how much the mean of each output channel is too small.
         *
         * @param means mean of each input channel
         */
        float[] shifts(double[] means) {
            Constant weights = node.weights();
            int depth = weights.type().shape().dim(-1);
            double[] sums = new double[order.channels()];
            for (int i = 0; i < weights.elements(); i++) {
                int channel = order.channel(i);
                double scale = scales.get(scales.size() == 1 ? 0 : channel);
                double lost = weights.real(i) - scale * integers.integer(i);
                sums[channel] += lost * means[order.input(i, depth, means.length)];
            }
            float[] shifts = new float[sums.length];
            for (int c = 0; c < shifts.length; c++) {
                shifts[c] = (float) sums[c];
            }
            return shifts;
        }
    }
}
