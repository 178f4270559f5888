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
            Binding simple = binding.op().has(Trait.VIEW) ? binding.reading(sources) : binding;
            bindings.add(simple);
            if (binding.op().has(Trait.VIEW)) {
                sources.put(binding.id(), simple.args().get(0));
            }
        }
        return function.withBindings(bindings);
    }
}
