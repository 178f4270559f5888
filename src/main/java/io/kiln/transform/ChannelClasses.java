// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Channels that can only be removed together: a class holds the channels of all values between the layers that compute
 * them and the layers that read them. A class can be removed if no reader needs it and it is not visible outside.
 */
final class ChannelClasses {
    private final Map<Integer, TensorType> types;
    /** Number of a value's channel 0; its other channels follow. */
    private final Map<Integer, Integer> firstById = new LinkedHashMap<>();
    /** A channel of the same class with a smaller number, or the channel itself. */
    private final int[] parent;

    private final BitSet staying = new BitSet();

    /**
     * Finds the classes and which of them are kept.
     *
     * @param inputs for each convolution and dense layer that mixes its input channels, those that it does not need
     */
    ChannelClasses(Function function, Map<Integer, ConstantInputs> inputs) {
        this.types = function.types();
        int count = 0;
        for (var parameter : function.params()) {
            firstById.put(parameter.id(), count);
            count += channels(parameter.id());
        }
        for (var variable : function.variables()) {
            firstById.put(variable.id(), count);
            count += channels(variable.id());
        }
        for (Binding binding : function.bindings()) {
            firstById.put(binding.id(), count);
            count += channels(binding.id());
        }
        this.parent = IntStream.range(0, count).toArray();
        for (Binding binding : function.bindings()) {
            if (ChannelFlow.of(binding, types) instanceof ChannelFlow.Follows flow) {
                join(binding, flow);
            }
        }
        for (Binding binding : function.bindings()) {
            ChannelFlow flow = ChannelFlow.of(binding, types);
            if (flow instanceof ChannelFlow.Mixes) {
                keepWhatIsRead(binding, inputs.get(binding.id()));
            } else if (flow instanceof ChannelFlow.Opaque) {
                keepAround(binding);
            }
        }
        function.params().forEach(p -> keepAll(p.id()));
        function.variables().forEach(v -> keepAll(v.id()));
        function.results().forEach(r -> keepAll(r.id()));
        keepOneEach();
    }

    /** The channels that are kept. */
    KeptChannels kept() {
        Map<Integer, int[]> kept = new HashMap<>();
        firstById.forEach((id, first) -> {
            int[] left = IntStream.range(0, channels(id))
                    .filter(c -> stays(first + c))
                    .toArray();
            if (left.length < channels(id)) {
                kept.put(id, left);
            }
        });
        return new KeptChannels(types, kept);
    }

    private int channels(int id) {
        return ChannelFlow.channels(types.get(id).shape());
    }

    private void join(Binding binding, ChannelFlow.Follows flow) {
        for (int id : binding.reads()) {
            for (int o = 0; o < channels(binding.id()); o++) {
                int a = find(firstById.get(id) + flow.source(o));
                int b = find(firstById.get(binding.id()) + o);
                parent[Math.max(a, b)] = Math.min(a, b);
            }
        }
    }

    private int find(int channel) {
        int root = channel;
        while (parent[root] != root) {
            parent[root] = parent[parent[root]];
            root = parent[root];
        }
        return root;
    }

    private boolean stays(int channel) {
        return staying.get(find(channel));
    }

    private void keepWhatIsRead(Binding layer, ConstantInputs inputs) {
        int id = layer.ref(0);
        for (int c = 0; c < channels(id); c++) {
            if (!inputs.canGo(c)) {
                staying.set(find(firstById.get(id) + c));
            }
        }
    }

    /** Keeps the channels read and computed by an operator without a rule. */
    private void keepAround(Binding binding) {
        keepAll(binding.id());
        binding.reads().forEach(this::keepAll);
    }

    private void keepAll(int id) {
        for (int c = 0; c < channels(id); c++) {
            staying.set(find(firstById.get(id) + c));
        }
    }

    /** Keeps at least one channel of each value. */
    private void keepOneEach() {
        firstById.forEach((id, first) -> {
            if (channels(id) > 0 && IntStream.range(first, first + channels(id)).noneMatch(this::stays)) {
                staying.set(find(first));
            }
        });
    }
}
