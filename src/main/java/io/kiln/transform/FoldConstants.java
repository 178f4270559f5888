// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Result;
import io.kiln.reference.ConstantFolder;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** Computes at build time, with the reference interpreter, every binding whose arguments are all constant. */
public final class FoldConstants implements Pass {
    @Override
    public String name() {
        return "fold-constants";
    }

    @Override
    public Function run(Function function) {
        return run(function, new ConstantFolder(function.constantBytes()));
    }

    @Override
    public Function run(Function function, ConstantFolder folder) {
        Set<Integer> results = new HashSet<>();
        function.results().stream().map(Result::id).forEach(results::add);
        GraphBuilder graph = new GraphBuilder(function, folder);
        for (Binding binding : function.bindings()) {
            Optional<Constant> value = results.contains(binding.id()) ? Optional.empty() : graph.folded(binding);
            value.ifPresentOrElse(constant -> graph.replace(binding.id(), constant), () -> graph.keep(binding));
        }
        return function.withBindings(graph.bindings());
    }
}
