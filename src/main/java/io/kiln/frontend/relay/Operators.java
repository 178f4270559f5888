// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.ir.op.Op;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/** The operators that are read one by one, without regard to those around, by their names in the text; each family lists its own. */
final class Operators {
    private static final Map<String, Function<Attributes, Op>> BY_NAME = new TreeMap<>();

    static {
        Stream.of(
                        LayerOperators.ALL,
                        StatefulOperators.ALL,
                        MovementOperators.ALL,
                        ElementwiseOperators.ALL,
                        CustomCalls.ALL,
                        ControlFlowOperators.ALL,
                        ReductionOperators.ALL,
                        SequenceOperators.ALL,
                        DetectionOperators.ALL,
                        SignalOperators.ALL,
                        FilterBankOperators.ALL)
                .forEach(BY_NAME::putAll);
    }

    private Operators() {}

    /** What makes an operator out of its attributes; empty for one that is not supported. */
    static Optional<Function<Attributes, Op>> of(String name) {
        return Optional.ofNullable(BY_NAME.get(name));
    }

    /** All names. */
    static Set<String> names() {
        return BY_NAME.keySet();
    }
}
