// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.TflBatchMatmul;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Groups operators that are lowered together: a convolution or dense layer with its bias, rescaling and limits; any
 * other operator with the limits after it. A binding joins a group only if it is the only reader of the group's result.
 * Groups that other code generators have taken stay as they are.
 */
public final class FuseOperators implements Pass {
    private final int maxDepth;

    /**
     * A fusion with limits.
     *
     * @param maxDepth largest number of bindings in a group, 1 or more
     */
    public FuseOperators(int maxDepth) {
        this.maxDepth = maxDepth;
    }

    @Override
    public String name() {
        return "fuse-operators";
    }

    @Override
    public Optional<String> whyRequired() {
        return Optional.of("operators are lowered by the groups that it makes; kiln.fuse.maxDepth=1 fuses nothing");
    }

    @Override
    public Function run(Function function) {
        Map<Integer, Integer> uses = function.useCounts();
        Map<Integer, List<Binding>> chainByOutput = new LinkedHashMap<>();
        Map<Integer, Group> taken = taken(function);
        for (Binding binding : function.bindings()) {
            if (taken.containsKey(binding.id())) {
                if (taken.get(binding.id()).output() == binding.id()) {
                    chainByOutput.put(binding.id(), List.of());
                }
                continue;
            }
            List<Binding> chain = List.of();
            if (binding.args().get(0) instanceof Arg.Ref ref && uses.get(ref.id()) == 1) {
                chain = chainByOutput.getOrDefault(ref.id(), List.of());
            }
            if (!chain.isEmpty() && chain.size() < maxDepth && joins(chain, binding)) {
                chainByOutput.remove(chain.get(chain.size() - 1).id());
                List<Binding> longer = new ArrayList<>(chain);
                longer.add(binding);
                chainByOutput.put(binding.id(), longer);
            } else {
                chainByOutput.put(binding.id(), List.of(binding));
            }
        }
        return function.withGroups(chainByOutput.entrySet().stream()
                .map(chain -> taken.containsKey(chain.getKey()) ? taken.get(chain.getKey()) : group(chain.getValue()))
                .toList());
    }

    /** The groups of other code generators, by each of their bindings. */
    private static Map<Integer, Group> taken(Function function) {
        Map<Integer, Group> taken = new HashMap<>();
        function.groups().forEach(group -> group.bindings().forEach(id -> taken.put(id, group)));
        return taken;
    }

    private static boolean joins(List<Binding> chain, Binding binding) {
        Op root = chain.get(0).op();
        Op last = chain.get(chain.size() - 1).op();
        if (binding.op() instanceof BiasAdd) {
            return (root instanceof Layer || root.has(Trait.TAKES_BIAS))
                    && chain.size() == 1
                    && binding.args().get(1) instanceof Constant;
        }
        if (binding.op().has(Trait.RESCALES)) {
            boolean hasChannels = root instanceof Layer || root instanceof TflBatchMatmul;
            return root.has(Trait.ACCUMULATES)
                    && (last == root || last instanceof BiasAdd)
                    && (hasChannels || !isPerChannel(binding));
        }
        return binding.op() instanceof Clip && root.has(Trait.TAKES_CLIP) && last.has(Trait.TAKES_CLIP);
    }

    /** Whether a rescaling with floats has functions of its own for channels, which only layers have. */
    private static boolean isPerChannel(Binding rescaling) {
        return rescaling.op() instanceof OnnxRequantize
                || (rescaling.op() instanceof TflRealRequantize
                        && rescaling.constant(2).elements() > 1);
    }

    private static Group group(List<Binding> chain) {
        String name =
                chain.stream().map(b -> b.op().name().replace('.', '_')).collect(Collectors.joining("_", "fused_", ""));
        return new Group(name, chain.stream().map(Binding::id).toList());
    }
}
