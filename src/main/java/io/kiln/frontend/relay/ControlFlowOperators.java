// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.ir.op.If;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.While;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Operators that call functions of the text. */
final class ControlFlowOperators {
    private static final int MAX_ARGUMENTS = 256;

    static final Map<String, Function<Attributes, Op>> ALL = Map.of(
            "tfl.if",
            ControlFlowOperators::condition,
            "tfl.if_then_else",
            ControlFlowOperators::condition,
            "tfl.while",
            a -> new While(
                    a.function("condition"),
                    a.function("body"),
                    a.integer("loop_variables", 0, MAX_ARGUMENTS),
                    variables(a, "condition_variables"),
                    variables(a, "body_variables")));

    private ControlFlowOperators() {}

    private static Op condition(Attributes a) {
        return new If(
                a.function("then"),
                a.function("otherwise"),
                a.integer("inputs", 0, MAX_ARGUMENTS),
                a.integer("results", 0, MAX_ARGUMENTS),
                variables(a, "then_variables"),
                variables(a, "otherwise_variables"));
    }

    private static List<Integer> variables(Attributes attributes, String name) {
        return attributes.integers(name, 0, MAX_ARGUMENTS - 1);
    }
}
