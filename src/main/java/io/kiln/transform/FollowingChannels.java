// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * Channels of an operator that computes each channel from one of the data's; all other arguments are constant.
 *
 * @param follows whether it does so with these attributes and types
 * @param rule the range of a channel, given the ranges of the data's channels
 */
record FollowingChannels(Condition follows, Rule rule) implements ChannelRule {
    /** Whether each channel is computed from one of the data's channels. */
    interface Condition {
        boolean holds(Binding binding, int inputs);
    }

    /** The range of each channel, given that of the data's channel from which it is computed. */
    interface Rule {
        IntFunction<Range> of(Binding binding, IntFunction<Range> source, TensorType data);
    }

    /** Whether a binding computes integers of up to 32 bits, the type of ranges, from one value and constants. */
    static boolean isTraced(Binding binding, Map<Integer, TensorType> types) {
        return binding.type().dtype().isInteger()
                && binding.args().get(0) instanceof Arg.Ref data
                && binding.args().stream().skip(1).allMatch(Constant.class::isInstance)
                && !binding.type().dtype().isLong()
                && !types.get(data.id()).dtype().isLong();
    }

    @Override
    public ChannelFlow flow(Binding binding, Map<Integer, TensorType> types) {
        if (!isTraced(binding, types)) {
            return new ChannelFlow.Opaque();
        }
        int inputs = ChannelFlow.channels(types.get(binding.ref(0)).shape());
        return follows.holds(binding, inputs) ? new ChannelFlow.Follows(1, inputs) : new ChannelFlow.Opaque();
    }

    @Override
    public IntFunction<Range> ranges(Binding binding, ChannelRanges known) {
        TensorType type = known.type(binding.ref(0));
        List<Range> data = known.of(binding.ref(0));
        int inputs = ChannelFlow.channels(type.shape());
        return rule.of(binding, c -> data.get(c % inputs), type);
    }
}
