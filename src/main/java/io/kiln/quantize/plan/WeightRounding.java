// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.Constant;
import io.kiln.quantize.graph.Node;
import io.kiln.transform.LayerChannelOrder;
import java.util.List;

/**
 * What rounding does to the weights of a layer.
 *
 * @param node the layer
 * @param integers its weights as integers
 * @param scales their scales, one or one per output channel
 * @param order to which output channel a weight belongs
 */
record WeightRounding(Node node, Constant integers, List<Float> scales, LayerChannelOrder order) {
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
