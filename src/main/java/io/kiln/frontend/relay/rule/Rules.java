// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.frontend.relay.value.Rule;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The rules of all families by the operators' names in the text. Attributes with a default in Relay may be absent.
 * Where TensorFlow Lite computes differently from TVM, {@code rounding="TFLITE"} selects its arithmetic.
 */
public final class Rules {
    /** Prefix of TVM operators that Kiln computes in another arithmetic. */
    private static final String OWN = "tfl.";

    private static final Map<String, Rule> BY_NAME = Stream.of(
                    LayerRules.ALL,
                    ElementwiseRules.ALL,
                    MovementRules.ALL,
                    ReductionRules.ALL,
                    SequenceRules.ALL,
                    StatefulRules.ALL,
                    ControlFlowRules.ALL,
                    DetectionRules.ALL,
                    SignalRules.ALL,
                    FilterBankRules.ALL,
                    CustomCallRules.ALL)
            .flatMap(family -> family.entrySet().stream())
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

    private Rules() {}

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
