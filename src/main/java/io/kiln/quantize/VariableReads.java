// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.op.Role;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes each read of a variable as data a copy of its own, since values of a plan are what operators compute. */
final class VariableReads {
    private final Function function;
    private final Map<Integer, TensorType> variables = new HashMap<>();
    private final List<Binding> bindings = new ArrayList<>();
    private int next;

    private VariableReads(Function function) {
        this.function = function;
        function.variables().forEach(v -> variables.put(v.id(), v.type()));
        this.next =
                function.types().keySet().stream().mapToInt(id -> id + 1).max().orElse(0);
    }

    /** The function with these copies. */
    static Function copied(Function function) {
        return new VariableReads(function).copied();
    }

    private Function copied() {
        for (Binding binding : function.bindings()) {
            List<Arg> args = new ArrayList<>(binding.args());
            for (int i = 0; i < args.size(); i++) {
                boolean isData = binding.op().role(i) == Role.DATA && !(binding.op() instanceof Copy);
                if (isData && args.get(i) instanceof Arg.Ref ref && variables.containsKey(ref.id())) {
                    args.set(i, new Arg.Ref(copy(ref.id(), binding.origin())));
                }
            }
            bindings.add(binding.with(args));
        }
        List<Result> results = function.results().stream()
                .map(result -> variables.containsKey(result.id())
                        ? result.of(copy(result.id(), new Origin(function.name(), 0, "Copy", result.name())))
                        : result)
                .toList();
        return function.withBindings(bindings).withResults(results);
    }

    private int copy(int variable, Origin origin) {
        bindings.add(new Binding(next, new Copy(), List.of(new Arg.Ref(variable)), variables.get(variable), origin));
        return next++;
    }
}
