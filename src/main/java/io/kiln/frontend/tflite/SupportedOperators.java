// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The builtin operators that Kiln compiles, by their code in the schema; each family lists its own. */
final class SupportedOperators {
    /**
     * How an operator is imported.
     *
     * @param maxVersion the newest version whose features the importer knows and checks
     */
    record Support(OperatorImporter importer, int maxVersion) {}

    private static final Map<Integer, Support> BY_CODE = Stream.of(
                    LayerOperators.ALL,
                    StatefulOperators.ALL,
                    MovementImporters.ALL,
                    ElementwiseOperators.ALL,
                    ReductionImporters.ALL,
                    LookupImporters.ALL,
                    NormalizationImporters.ALL,
                    SequenceImporters.ALL)
            .flatMap(family -> family.entrySet().stream())
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

    private SupportedOperators() {}

    static Optional<Support> of(int builtin) {
        return Optional.ofNullable(BY_CODE.get(builtin));
    }

    /** All names, for messages. */
    static String names() {
        return new TreeMap<>(BY_CODE)
                .keySet().stream().map(BuiltinNames::of).sorted().collect(Collectors.joining(", "));
    }
}
