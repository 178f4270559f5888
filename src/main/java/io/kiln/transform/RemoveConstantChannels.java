// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Removes channels that are the same number for every input, and channels that nobody reads, from the layers that compute
 * them, from what stands between, and from the layers that read them. What a constant added to an accumulator goes into the
 * bias. Networks trained with strong regularisation have many such channels: their kernels are all zero.
 *
 * <p>A channel stays if one reader needs it, if it is seen outside, or if the constant is not the same everywhere behind
 * padding; and one channel of each value stays. Removing channels can leave others unread, so this goes on until nothing
 * changes.
 */
public final class RemoveConstantChannels implements Pass {
    @Override
    public String name() {
        return "remove-constant-channels";
    }

    @Override
    public Function run(Function function) {
        Function current = function;
        while (true) {
            LayerBiases biases = new LayerBiases(current);
            Map<Integer, ConstantInputs> inputs = constantInputs(current, biases);
            KeptChannels kept = new ChannelClasses(current, inputs).kept();
            if (kept.isAll()) {
                return current;
            }
            current = ChannelRemoval.run(current, kept, inputs, biases);
        }
    }

    private static Map<Integer, ConstantInputs> constantInputs(Function function, LayerBiases biases) {
        Map<Integer, TensorType> types = function.types();
        Map<Integer, List<Range>> ranges = ChannelRanges.of(function);
        Map<Integer, ConstantInputs> inputs = new HashMap<>();
        for (Binding binding : function.bindings()) {
            if (ChannelFlow.of(binding, types) instanceof ChannelFlow.Mixes) {
                int data = binding.ref(0);
                inputs.put(
                        binding.id(),
                        new ConstantInputs(
                                new LayerSums(binding, types.get(data)),
                                ranges.get(data),
                                biases.of(binding.id()).map(bias -> bias.constant(1)),
                                biases.canChange(binding)));
            }
        }
        return inputs;
    }
}
