// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.plan.PlannedNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Replaces the custom operators of a function that was read from a written model by the original operators. */
final class Splice {
    private final Function original;
    private final Map<String, PlannedNode> custom;
    private final Map<Integer, Integer> variables = new HashMap<>();
    private final List<Binding> bindings = new ArrayList<>();
    private int next;

    private Splice(Function read, Function original, Map<String, PlannedNode> custom) {
        this.original = original;
        this.custom = custom;
        this.next = 1
                + read.types().keySet().stream()
                        .mapToInt(Integer::intValue)
                        .max()
                        .orElse(0);
    }

    /**
     * The whole function.
     *
     * @param read the function with calls of the custom operators
     * @param original the float function, which provides the called functions, and the variables that custom operators use
     * @param custom the nodes by the operators' names
     */
    static Function into(Function read, Function original, Map<String, PlannedNode> custom) {
        return new Splice(read, original, custom).function(read);
    }

    private Function function(Function read) {
        List<Variable> added = new ArrayList<>(read.variables());
        Set<Integer> used = custom.values().stream()
                .flatMap(node -> node.node().args().stream())
                .filter(Arg.Ref.class::isInstance)
                .map(arg -> ((Arg.Ref) arg).id())
                .collect(Collectors.toSet());
        for (Variable variable :
                original.variables().stream().filter(v -> used.contains(v.id())).toList()) {
            variables.put(variable.id(), next);
            added.add(new Variable(next, variable.name(), variable.type(), variable.initial()));
            next++;
        }
        for (Binding binding : read.bindings()) {
            if (binding.op() instanceof CustomCall call && custom.containsKey(call.code())) {
                add(binding, custom.get(call.code()).node());
            } else {
                bindings.add(binding);
            }
        }
        return read.withBindings(bindings).withVariables(added).withFunctions(original.functions());
    }

    /** The node's operator, its bias and its clamp; the last one takes the call's place. */
    private void add(Binding call, Node node) {
        List<Arg> args = new ArrayList<>();
        int read = 0;
        for (Arg arg : node.args()) {
            if (!(arg instanceof Arg.Ref ref)) {
                args.add(arg);
            } else if (variables.containsKey(ref.id())) {
                args.add(new Arg.Ref(variables.get(ref.id())));
            } else {
                args.add(call.args().get(read++));
            }
        }
        List<Op> ops = new ArrayList<>(List.of(node.op()));
        List<List<Arg>> arguments = new ArrayList<>(List.of(args));
        node.bias().ifPresent(bias -> {
            ops.add(new BiasAdd(node.type().shape().rank() - 1));
            arguments.add(List.of(bias));
        });
        node.clip().ifPresent(clip -> {
            ops.add(clip);
            arguments.add(List.of());
        });
        chain(call, node, ops, arguments);
    }

    private void chain(Binding call, Node node, List<Op> ops, List<List<Arg>> arguments) {
        TensorType type = node.type();
        for (int i = 0; i < ops.size(); i++) {
            int id = i == ops.size() - 1 ? call.id() : next++;
            List<Arg> args = new ArrayList<>(arguments.get(i));
            if (i > 0) {
                args.add(0, new Arg.Ref(bindings.get(bindings.size() - 1).id()));
            }
            bindings.add(new Binding(id, ops.get(i), args, type, node.origin()));
        }
    }
}
