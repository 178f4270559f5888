// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.Constant;
import io.kiln.quantize.graph.Node;
import io.kiln.transform.LayerChannelOrder;

/**
 * What rounding does to the weights of a layer.
 *
 * @param node the layer
 * @param integers its weights as integers
 * @param scales their scales, one or one per output channel
 * @param order to which output channel a weight belongs
 */
record WeightRounding(Node node, Constant integers, float[] scales, LayerChannelOrder order) {
    /**
     * By how much the mean of each output channel is too small.
     *
     * @param means mean of each input channel
     */
    float[] shifts(double[] means) {
        Constant weights = node.weights();
        double[] sums = new double[order.channels()];
        for (int i = 0; i < weights.elements(); i++) {
            int channel = order.channel(i);
            double scale = scales[scales.length == 1 ? 0 : channel];
            double lost = weights.real(i) - scale * integers.integer(i);
            sums[channel] += lost * means[input(i, channel, means.length)];
        }
        float[] shifts = new float[sums.length];
        for (int c = 0; c < shifts.length; c++) {
            shifts[c] = (float) sums[c];
        }
        return shifts;
    }

    /** The input channel that a weight meets. */
    private int input(int element, int channel, int inputs) {
        if (order.isLast()) {
            return channel / (order.channels() / inputs);
        }
        int depth = node.weights().type().shape().dim(-1);
        int groups = inputs / depth;
        return channel / (order.channels() / groups) * depth + element % depth;
    }
}
