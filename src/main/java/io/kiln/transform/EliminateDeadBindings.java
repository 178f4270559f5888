// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Result;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Removes bindings that change no variable and on which no result depends. */
public final class EliminateDeadBindings implements Pass {
    @Override
    public String name() {
        return "eliminate-dead-bindings";
    }

    @Override
    public Function run(Function function) {
        Set<Integer> live = new HashSet<>();
        function.results().stream().map(Result::id).forEach(live::add);
        List<Binding> kept = new ArrayList<>();
        for (int i = function.bindings().size() - 1; i >= 0; i--) {
            Binding binding = function.bindings().get(i);
            if (live.contains(binding.id()) || !binding.op().writes().isEmpty()) {
                kept.add(binding);
                live.addAll(binding.reads());
            }
        }
        Collections.reverse(kept);
        return function.withBindings(kept);
    }
}
