// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.ir.type.TensorType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A model as a flat graph: parameters, operator calls in execution order, results.
 *
 * @param name module name
 * @param params inputs in model order
 * @param bindings operator calls; each uses only what stands before it
 * @param results outputs in model order
 * @param groups the fused groups in execution order, covering every binding once; empty before fusion
 */
public record Function(
        String name, List<Parameter> params, List<Binding> bindings, List<Result> results, List<Group> groups) {
    public Function {
        params = List.copyOf(params);
        bindings = List.copyOf(bindings);
        results = List.copyOf(results);
        groups = List.copyOf(groups);
    }

    public Function(String name, List<Parameter> params, List<Binding> bindings, List<Result> results) {
        this(name, params, bindings, results, List.of());
    }

    public Function withBindings(List<Binding> newBindings) {
        return new Function(name, params, newBindings, results, groups);
    }

    public Function withGroups(List<Group> newGroups) {
        return new Function(name, params, bindings, results, newGroups);
    }

    /** Types of all parameters and bindings by id. */
    public Map<Integer, TensorType> types() {
        Map<Integer, TensorType> types = new HashMap<>();
        params.forEach(p -> types.put(p.id(), p.type()));
        bindings.forEach(b -> types.put(b.id(), b.type()));
        return types;
    }

    /** Bindings by id. */
    public Map<Integer, Binding> bindingsById() {
        Map<Integer, Binding> byId = new HashMap<>();
        bindings.forEach(b -> byId.put(b.id(), b));
        return byId;
    }

    /** How often each id is used as an argument or a result. */
    public Map<Integer, Integer> useCounts() {
        Map<Integer, Integer> counts = new HashMap<>();
        for (Binding binding : bindings) {
            for (Arg arg : binding.args()) {
                if (arg instanceof Arg.Ref ref) {
                    counts.merge(ref.id(), 1, Integer::sum);
                }
            }
        }
        results.forEach(r -> counts.merge(r.id(), 1, Integer::sum));
        return counts;
    }
}
