// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Removes channels that have the same value for every input, and channels that nothing reads, from the layers that
 * compute them, from the operators in between, and from the layers that read them. A removed constant's contribution to
 * an accumulator moves to the bias. Networks trained with strong regularisation have many such channels: their kernels
 * are all zero.
 *
 * <p>A channel is kept if one reader needs it, if it is visible outside, or if padding makes its contribution vary by
 * position; one channel of each value is always kept. Removing channels can leave others unread, so this repeats until
 * nothing changes.
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
