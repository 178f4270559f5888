// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.op.element.Unary;

/** Removes the rounding of intermediate values to 16-bit formats: it is far finer than the bytes that a quantizer makes of them. */
public final class WholePrecision implements Pass {
    @Override
    public String name() {
        return "whole-precision";
    }

    @Override
    public Function run(Function function) {
        GraphBuilder graph = new GraphBuilder(function);
        for (Binding binding : function.bindings()) {
            boolean isResult = function.results().stream().anyMatch(result -> result.id() == binding.id());
            if (isRounding(binding) && !isResult) {
                graph.replace(binding.id(), binding.args().get(0));
            } else {
                graph.keep(binding);
            }
        }
        return function.withBindings(graph.bindings());
    }

    private static boolean isRounding(Binding binding) {
        return binding.op() instanceof Unary unary
                && (unary.kind() == Unary.Kind.ROUND_FLOAT16 || unary.kind() == Unary.Kind.ROUND_BFLOAT16);
    }
}
