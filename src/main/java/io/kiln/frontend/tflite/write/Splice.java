// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.plan.QuantizedVotes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Replaces the custom operators of a function that was read from a written model by the original operators. */
final class Splice {
    private final Map<String, PlannedNode> custom;
    private final Map<Integer, Arg.Ref> variables = new HashMap<>();
    private final GraphBuilder graph;

    private Splice(Function read, Map<String, PlannedNode> custom) {
        this.custom = custom;
        this.graph = new GraphBuilder(read);
    }

    /**
     * The whole function.
     *
     * @param read the function with calls of the custom operators
     * @param original the float function, which provides the called functions, and the variables that custom operators use
     * @param custom the nodes by the operators' names
     */
    static Function into(Function read, Function original, Map<String, PlannedNode> custom) {
        Splice splice = new Splice(read, custom);
        splice.addVariables(original);
        read.bindings().forEach(splice::add);
        return read.withBindings(splice.graph.bindings())
                .withVariables(splice.graph.variables())
                .withFunctions(original.functions());
    }

    private void addVariables(Function original) {
        Set<Arg> used = custom.values().stream()
                .flatMap(node -> node.node().args().stream())
                .filter(Arg.Ref.class::isInstance)
                .collect(Collectors.toSet());
        original.variables().stream()
                .filter(v -> used.contains(new Arg.Ref(v.id())))
                .forEach(v -> variables.put(v.id(), graph.variable(v.name(), v.type(), v.initial())));
    }

    private void add(Binding binding) {
        if (binding.op() instanceof CustomCall call && custom.containsKey(call.code())) {
            add(binding, custom.get(call.code()));
        } else {
            graph.keep(binding);
        }
    }

    /** The node's operator, the scales of its votes, its bias and its clamp; the last one takes the call's place. */
    private void add(Binding call, PlannedNode planned) {
        Node node = planned.node();
        List<Arg> args = new ArrayList<>();
        int read = 0;
        for (Arg arg : node.args()) {
            boolean isGiven = arg instanceof Arg.Ref ref && !variables.containsKey(ref.id());
            args.add(isGiven ? call.args().get(read++) : arg.replaced(variables));
        }
        List<Op> ops = new ArrayList<>(List.of(node.op()));
        List<List<Arg>> constants = new ArrayList<>(List.of(List.of()));
        if (planned.precision() != Precision.FLOAT) {
            QuantizedVotes quantized = QuantizedVotes.of(planned);
            args.set(QuantizedVotes.WEIGHTS, quantized.votes());
            ops.addAll(List.of(new Cast(DType.FLOAT32), new Binary(Binary.Kind.MULTIPLY)));
            constants.addAll(List.of(List.of(), List.of(quantized.scales())));
        }
        node.bias().ifPresent(bias -> {
            ops.add(new BiasAdd(node.type().shape().rank() - 1));
            constants.add(List.of(bias));
        });
        node.clip().ifPresent(clip -> {
            ops.add(clip);
            constants.add(List.of());
        });
        int last = ops.size() - 1;
        for (int i = 0; i < last; i++) {
            Arg value = graph.call(ops.get(i), args, node.origin());
            args = new ArrayList<>(List.of(value));
            args.addAll(constants.get(i + 1));
        }
        graph.define(call.id(), ops.get(last), args, node.origin());
    }
}
