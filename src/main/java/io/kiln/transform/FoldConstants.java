// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Result;
import io.kiln.ir.op.Trait;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
        Map<Integer, Constant> folded = new HashMap<>();
        List<Binding> kept = new ArrayList<>();
        for (Binding binding : function.bindings()) {
            List<Arg> args = binding.args().stream()
                    .map(a -> a instanceof Arg.Ref ref && folded.containsKey(ref.id()) ? folded.get(ref.id()) : a)
                    .toList();
            Binding current = new Binding(binding.id(), binding.op(), args, binding.type(), binding.origin());
            boolean known = args.stream().allMatch(Constant.class::isInstance)
                    && !binding.op().has(Trait.OPAQUE);
            if (known && !results.contains(binding.id())) {
                folded.put(binding.id(), evaluate(current, folder));
            } else {
                kept.add(current);
            }
        }
        return function.withBindings(kept);
    }

    private static Constant evaluate(Binding binding, ConstantFolder folder) {
        List<Constant> args = binding.args().stream().map(Constant.class::cast).toList();
        Constant value =
                folder.fold(binding.op(), args, binding.type(), binding.origin().text());
        return new Constant(binding.origin().tensor(), value.type(), value.data());
    }
}
