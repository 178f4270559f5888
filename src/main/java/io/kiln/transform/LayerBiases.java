// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Result;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.type.TensorType;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The places where constants can be added to a layer's accumulators. */
final class LayerBiases {
    private final Map<Integer, Binding> biasByLayer = new HashMap<>();
    private final Set<Integer> results = new HashSet<>();

    LayerBiases(Function function) {
        function.results().stream().map(Result::id).forEach(results::add);
        Map<Integer, Integer> uses = function.useCounts();
        Map<Integer, TensorType> types = function.types();
        for (Binding binding : function.bindings()) {
            boolean perChannel =
                    binding.op() instanceof BiasAdd && ChannelFlow.of(binding, types) instanceof ChannelFlow.Follows;
            if (perChannel && uses.get(binding.ref(0)) == 1) {
                biasByLayer.put(binding.ref(0), binding);
            }
        }
    }

    /** The {@code nn.bias_add} that is the only reader of a layer's accumulators. */
    Optional<Binding> of(int layer) {
        return Optional.ofNullable(biasByLayer.get(layer));
    }

    /** Whether there is a bias to change, or one can be added after the layer: not if its accumulators are a result. */
    boolean canChange(Binding layer) {
        return layer.type().dtype() == DType.INT32 && !results.contains(layer.id());
    }
}
