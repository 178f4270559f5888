// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.type.Shape;

/**
 * Which output channel an element of a layer's weights belongs to.
 *
 * @param isLast whether channels are the fastest dimension, as in layout HWOI of depthwise convolutions
 * @param channels number of output channels
 * @param perChannel weights of a channel
 */
public record LayerChannelOrder(boolean isLast, int channels, int perChannel) {
    private static final String CHANNELS_FIRST = "OHWI";

    /** The order of a layer with constant weights. */
    public static LayerChannelOrder of(Binding layer) {
        int channels = layer.type().shape().dim(-1);
        return of((Layer) layer.op(), layer.constant(1).type().shape(), channels);
    }

    public static LayerChannelOrder of(Layer layer, Shape weights, int channels) {
        String layout = layer instanceof Conv2d real
                ? real.kernelLayout()
                : layer instanceof QnnConv2d quantized ? quantized.kernelLayout() : CHANNELS_FIRST;
        return new LayerChannelOrder(
                !layout.equals(CHANNELS_FIRST), channels, Math.toIntExact(weights.elements() / channels));
    }

    /** The output channel of an element. */
    public int channel(int element) {
        return isLast ? element % channels : element / perChannel;
    }

    /**
     * The input channel that an element meets.
     *
     * @param depth last dimension of the weights
     * @param inputs number of input channels
     */
    public int input(int element, int depth, int inputs) {
        if (isLast) {
            return channel(element) / (channels / inputs);
        }
        int groups = inputs / depth;
        return channel(element) / (channels / groups) * depth + element % depth;
    }
}
