// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.op.Layer;
import io.kiln.ir.type.TensorType;
import java.util.Map;
import java.util.function.IntFunction;

/** Channels of a quantized convolution or fully connected layer. */
final class LayerChannels implements ChannelRule {
    @Override
    public ChannelFlow flow(Binding binding, Map<Integer, TensorType> types) {
        if (!FollowingChannels.isTraced(binding, types)) {
            return new ChannelFlow.Opaque();
        }
        Layer layer = (Layer) binding.op();
        int inputs = ChannelFlow.channels(types.get(binding.ref(0)).shape());
        if (layer.isDepthwise(inputs)) {
            return new ChannelFlow.Follows(ChannelFlow.channels(binding.type().shape()) / inputs, inputs);
        }
        return layer.groups() == 1 ? new ChannelFlow.Mixes() : new ChannelFlow.Opaque();
    }

    @Override
    public IntFunction<Range> ranges(Binding binding, ChannelRanges known) {
        int data = binding.ref(0);
        return new LayerSums(binding, known.type(data)).accumulators(known.of(data));
    }
}
