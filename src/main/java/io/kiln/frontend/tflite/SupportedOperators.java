// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The builtin operators that Kiln compiles, by their code in the schema. */
final class SupportedOperators {
    /**
     * How an operator is imported.
     *
     * @param maxVersion the newest version whose features the importer knows and checks
     */
    record Support(OperatorImporter importer, int maxVersion) {}

    private static final Map<Integer, Support> BY_CODE = Map.ofEntries(
            Map.entry(0, new Support(new ElementwiseImporter(), 5)),
            Map.entry(1, new Support(new PoolingImporter(true), 3)),
            Map.entry(3, new Support(new ConvolutionImporter(false), 8)),
            Map.entry(4, new Support(new ConvolutionImporter(true), 7)),
            Map.entry(6, new Support(new QuantizeImporter(false), 6)),
            Map.entry(9, new Support(new FullyConnectedImporter(), 12)),
            Map.entry(17, new Support(new PoolingImporter(false), 3)),
            Map.entry(22, new Support(new ReshapeImporter(), 1)),
            Map.entry(25, new Support(new SoftmaxImporter(), 3)),
            Map.entry(114, new Support(new QuantizeImporter(true), 4)));

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
