// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.base.Bytes;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A model as a flat graph: parameters, operator calls in execution order, results.
 *
 * @param name module name
 * @param params inputs in model order
 * @param bindings operator calls; each uses only earlier values
 * @param results outputs in model order
 * @param groups the fused groups in execution order, covering every binding once; before fusion only those that other code
 *     generators take
 * @param variables its state between runs
 * @param functions functions called by its operators, by index; their variables are the callers'
 */
public record Function(
        String name,
        List<Parameter> params,
        List<Binding> bindings,
        List<Result> results,
        List<Group> groups,
        List<Variable> variables,
        List<Function> functions) {
    public Function {
        params = List.copyOf(params);
        bindings = List.copyOf(bindings);
        results = List.copyOf(results);
        groups = List.copyOf(groups);
        variables = List.copyOf(variables);
        functions = List.copyOf(functions);
    }

    /** A function without state, before fusion. */
    public Function(String name, List<Parameter> params, List<Binding> bindings, List<Result> results) {
        this(name, params, bindings, results, List.of(), List.of(), List.of());
    }

    public Function withBindings(List<Binding> newBindings) {
        return new Function(name, params, newBindings, results, groups, variables, functions);
    }

    public Function withResults(List<Result> newResults) {
        return new Function(name, params, bindings, newResults, groups, variables, functions);
    }

    public Function withGroups(List<Group> newGroups) {
        return new Function(name, params, bindings, results, newGroups, variables, functions);
    }

    public Function withVariables(List<Variable> newVariables) {
        return new Function(name, params, bindings, results, groups, newVariables, functions);
    }

    public Function withFunctions(List<Function> newFunctions) {
        return new Function(name, params, bindings, results, groups, variables, newFunctions);
    }

    /** The same function with ids in order: parameters, variables, bindings; also in its functions. */
    public Function withIdsInOrder() {
        Map<Integer, Integer> order = new HashMap<>();
        params.forEach(p -> order.put(p.id(), order.size()));
        variables.forEach(v -> order.put(v.id(), order.size()));
        bindings.forEach(b -> order.put(b.id(), order.size()));
        return new Function(
                name,
                params.stream()
                        .map(p -> new Parameter(order.get(p.id()), p.name(), p.type(), p.quantization()))
                        .toList(),
                bindings.stream()
                        .map(b -> new Binding(
                                order.get(b.id()),
                                b.op(),
                                b.args().stream()
                                        .map(a -> a instanceof Arg.Ref ref ? new Arg.Ref(order.get(ref.id())) : a)
                                        .toList(),
                                b.type(),
                                b.origin()))
                        .toList(),
                results.stream().map(r -> r.of(order.get(r.id()))).toList(),
                groups.stream()
                        .map(g -> new Group(
                                g.name(), g.bindings().stream().map(order::get).toList(), g.composite()))
                        .toList(),
                variables.stream()
                        .map(v -> new Variable(order.get(v.id()), v.name(), v.type(), v.initial()))
                        .toList(),
                functions.stream().map(Function::withIdsInOrder).toList());
    }

    /** Types of all parameters, variables and bindings by id. */
    public Map<Integer, TensorType> types() {
        Map<Integer, TensorType> types = new HashMap<>();
        variables.forEach(v -> types.put(v.id(), v.type()));
        params.forEach(p -> types.put(p.id(), p.type()));
        bindings.forEach(b -> types.put(b.id(), b.type()));
        return types;
    }

    /** The first operator computed by the user's C or an NPU, called functions included. */
    public Optional<Binding> opaque() {
        return Stream.concat(
                        bindings.stream().filter(b -> b.op().has(Trait.OPAQUE)),
                        functions.stream().flatMap(f -> f.opaque().stream()))
                .findFirst();
    }

    public Map<Integer, Binding> bindingsById() {
        Map<Integer, Binding> byId = new HashMap<>();
        bindings.forEach(b -> byId.put(b.id(), b));
        return byId;
    }

    /** Bytes of the constants of this function and of those that it calls; data that several constants share counts once. */
    public long constantBytes() {
        IdentityHashMap<Bytes, Integer> data = new IdentityHashMap<>();
        addConstants(data);
        return data.values().stream().mapToLong(Integer::longValue).sum();
    }

    private void addConstants(IdentityHashMap<Bytes, Integer> data) {
        for (Binding binding : bindings) {
            for (Arg arg : binding.args()) {
                if (arg instanceof Constant constant) {
                    data.put(constant.data(), constant.data().size());
                }
            }
        }
        functions.forEach(function -> function.addConstants(data));
    }

    /** How often each id is used as an argument or a result. */
    public Map<Integer, Integer> useCounts() {
        Map<Integer, Integer> counts = new HashMap<>();
        for (Binding binding : bindings) {
            binding.reads().forEach(id -> counts.merge(id, 1, Integer::sum));
        }
        results.forEach(r -> counts.merge(r.id(), 1, Integer::sum));
        return counts;
    }
}
