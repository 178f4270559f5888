// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.element.Unary;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Removes the rounding of intermediate values to 16-bit formats: it is far finer than the bytes that a quantizer makes of them. */
public final class WholePrecision implements Pass {
    @Override
    public String name() {
        return "whole-precision";
    }

    @Override
    public Function run(Function function) {
        Map<Integer, Arg> unrounded = new HashMap<>();
        List<Binding> bindings = new ArrayList<>();
        for (Binding binding : function.bindings()) {
            List<Arg> args = binding.args().stream()
                    .map(arg -> arg instanceof Arg.Ref ref ? unrounded.getOrDefault(ref.id(), arg) : arg)
                    .toList();
            boolean isResult = function.results().stream().anyMatch(result -> result.id() == binding.id());
            if (isRounding(binding) && !isResult) {
                unrounded.put(binding.id(), args.get(0));
            } else {
                bindings.add(new Binding(binding.id(), binding.op(), args, binding.type(), binding.origin()));
            }
        }
        return function.withBindings(bindings);
    }

    private static boolean isRounding(Binding binding) {
        return binding.op() instanceof Unary unary
                && (unary.kind() == Unary.Kind.ROUND_FLOAT16 || unary.kind() == Unary.Kind.ROUND_BFLOAT16);
    }
}
