// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.Trait;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Lets a reshape of a reshape read the first one's argument; unread reshapes are removed later. */
public final class SimplifyReshapes implements Pass {
    @Override
    public String name() {
        return "simplify-reshapes";
    }

    @Override
    public Function run(Function function) {
        Map<Integer, Arg> sources = new HashMap<>();
        List<Binding> bindings = new ArrayList<>();
        for (Binding binding : function.bindings()) {
            if (binding.op().has(Trait.VIEW)) {
                Arg arg = binding.args().get(0);
                Arg source = arg instanceof Arg.Ref ref ? sources.getOrDefault(ref.id(), arg) : arg;
                sources.put(binding.id(), source);
                bindings.add(
                        new Binding(binding.id(), binding.op(), List.of(source), binding.type(), binding.origin()));
            } else {
                bindings.add(binding);
            }
        }
        return function.withBindings(bindings);
    }
}
