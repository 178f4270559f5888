// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.Operators;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.call.If;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The rules of all operators by their names in the text. Attributes with a default in Relay may be absent.
 * Where TensorFlow Lite computes differently from TVM, {@code rounding="TFLITE"} selects its arithmetic.
 */
public final class Rules {
    /** Prefix of TVM operators that Kiln computes in another arithmetic. */
    private static final String OWN = "tfl.";

    private static final Map<String, Rule> BY_NAME = byName();

    private Rules() {}

    /** The rules of operators whose text has several forms, and of others those that follow from their signatures. */
    private static Map<String, Rule> byName() {
        Map<String, Rule> rules = new HashMap<>();
        Stream.of(LayerRules.ALL, ElementwiseRules.ALL, MovementRules.ALL, ReductionRules.ALL, CustomCallRules.ALL)
                .forEach(rules::putAll);
        for (Signature<? extends Op> signature : Operators.ALL) {
            signature.reader().ifPresent(reader -> rules.putIfAbsent(signature.name(), Rule.of(reader)));
        }
        rules.put(If.SPELLED, rules.get(If.SIGNATURE.name()));
        return Map.copyOf(rules);
    }

    /** The rule of an operator; empty if it is not supported. */
    public static Optional<Rule> of(String name) {
        Optional<Rule> rule = Optional.ofNullable(BY_NAME.get(name));
        return rule.isEmpty() && name.startsWith(OWN) ? of(name.substring(OWN.length())) : rule;
    }

    /** All names, sorted. */
    public static SortedSet<String> names() {
        SortedSet<String> names = new TreeSet<>(BY_NAME.keySet());
        names.add(Split.NAME);
        return names;
    }
}
