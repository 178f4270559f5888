// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.If;
import io.kiln.ir.op.call.While;
import java.util.List;
import java.util.Map;

/** Operators that call functions of the text. */
final class ControlFlowRules {
    private static final int MAX_ARGUMENTS = 256;

    static final Map<String, Rule> ALL = Map.ofEntries(
            entry("tfl.if", Rule.of(ControlFlowRules::condition)),
            entry("tfl.if_then_else", Rule.of(ControlFlowRules::condition)),
            entry("tfl.while", Rule.of(ControlFlowRules::loop)));

    private ControlFlowRules() {}

    private static Op loop(Attributes a) {
        return new While(
                a.function("condition"),
                a.function("body"),
                a.integer("loop_variables", 0, MAX_ARGUMENTS),
                variables(a, "condition_variables"),
                variables(a, "body_variables"));
    }

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
