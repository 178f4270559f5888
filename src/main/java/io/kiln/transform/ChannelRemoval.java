// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.movement.Reshape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rewrites a function so that its values have only the kept channels; ids stay unchanged. */
final class ChannelRemoval {
    private final KeptChannels kept;
    private final Map<Integer, ConstantInputs> inputs;
    private final LayerBiases biases;
    private final GraphBuilder graph;

    /**
     * Sums that removed constants contributed to a layer's accumulators, by the id of the {@code nn.bias_add} after the
     * layer.
     */
    private final Map<Integer, long[]> additions = new HashMap<>();

    private ChannelRemoval(
            Function function, KeptChannels kept, Map<Integer, ConstantInputs> inputs, LayerBiases biases) {
        this.kept = kept;
        this.inputs = inputs;
        this.biases = biases;
        this.graph = new GraphBuilder(function);
    }

    /**
     * The function without the removed channels.
     *
     * @param kept the kept channels
     * @param inputs inputs not needed by the layers that mix channels
     * @param biases the layers' biases
     */
    static Function run(Function function, KeptChannels kept, Map<Integer, ConstantInputs> inputs, LayerBiases biases) {
        ChannelRemoval removal = new ChannelRemoval(function, kept, inputs, biases);
        function.bindings().forEach(removal::rewrite);
        return function.withBindings(removal.graph.bindings());
    }

    private void rewrite(Binding binding) {
        Op op = binding.op();
        if (op instanceof QnnConv2d || op instanceof QnnDense) {
            SmallerLayer layer = new SmallerLayer(binding, kept);
            List<Arg> args = new ArrayList<>(List.of(binding.args().get(0)));
            args.addAll(layer.parameters());
            add(binding, layer.op(), args);
            if (inputs.containsKey(binding.id())) {
                moveConstants(binding, inputs.get(binding.id()));
            }
        } else if (additions.containsKey(binding.id())) {
            Constant bias = sum(Optional.of(binding.constant(1)), binding.id(), additions.get(binding.id()));
            add(binding, op, List.of(binding.args().get(0), bias));
        } else {
            Op same = op.has(Trait.VIEW) ? new Reshape(kept.type(binding.id()).shape()) : op;
            add(binding, same, arguments(binding));
        }
    }

    private void add(Binding old, Op op, List<Arg> args) {
        graph.define(old.id(), op, args, old.origin());
    }

    private List<Arg> arguments(Binding binding) {
        List<Arg> args = new ArrayList<>();
        for (Arg arg : binding.args()) {
            boolean shrinks = arg instanceof Constant && !kept.isAll(binding.id());
            args.add(shrinks ? Gather.channels((Constant) arg, kept.before(binding.id()), kept.of(binding.id())) : arg);
        }
        return args;
    }

    /** Adds the contribution of a layer's removed inputs to its bias, which is created if there is none. */
    private void moveConstants(Binding layer, ConstantInputs constants) {
        int[] removed = kept.removed(layer.ref(0));
        long[] added = new long[kept.before(layer.id())];
        Arrays.setAll(
                added,
                o -> Arrays.stream(removed).mapToLong(c -> constants.adds(o, c)).sum());
        if (Arrays.stream(added).allMatch(a -> a == 0)) {
            return;
        }
        Optional<Binding> bias = biases.of(layer.id());
        if (bias.isPresent()) {
            additions.put(bias.orElseThrow().id(), added);
            return;
        }
        Constant sum = sum(Optional.empty(), layer.id(), added);
        graph.replace(layer.id(), graph.call(new BiasAdd(-1), List.of(new Arg.Ref(layer.id()), sum), layer.origin()));
    }

    /** The bias with additions, for the kept channels; {@link ConstantInputs} guarantees that it fits into 32 bits. */
    private Constant sum(Optional<Constant> bias, int id, long[] added) {
        int[] values = Arrays.stream(kept.of(id))
                .map(o -> Math.toIntExact(bias.map(b -> b.integer(o)).orElse(0L) + added[o]))
                .toArray();
        Constant sum = Constant.vector(values);
        return new Constant(bias.map(Constant::name).orElse(""), sum.type(), sum.data());
    }
}
