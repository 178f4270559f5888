// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import java.util.HashMap;
import java.util.Map;

/** The table of element-wise operators. */
final class ElementwiseRules {
    /** Operators with special rules. */
    private static final Map<String, Rule> SPECIAL = Map.ofEntries(
            entry("add", SumRules::add),
            entry("cast", ElementRules::cast),
            entry("clip", ArithmeticRules::clip),
            entry("isfinite", ElementRules::isFinite),
            entry("multiply", SumRules::multiply),
            entry("negative", ElementRules::negative),
            entry("nn.relu", ArithmeticRules::relu),
            entry("qnn.add", ArithmeticRules::addQuantized),
            entry("qnn.dequantize", ArithmeticRules::dequantize),
            entry("qnn.quantize", ArithmeticRules::quantize),
            entry("subtract", SumRules::subtract),
            entry("where", ElementRules::where));

    static final Map<String, Rule> ALL = all();

    private ElementwiseRules() {}

    private static Map<String, Rule> all() {
        Map<String, Rule> all = new HashMap<>(SPECIAL);
        for (Binary.Kind kind : Binary.Kind.values()) {
            all.putIfAbsent(new Binary(kind).name(), call -> ElementRules.binary(call, kind));
        }
        for (Unary.Kind kind : Unary.Kind.values()) {
            all.putIfAbsent(new Unary(kind).name(), call -> ElementRules.unary(call, new Unary(kind), 1));
        }
        return Map.copyOf(all);
    }
}
