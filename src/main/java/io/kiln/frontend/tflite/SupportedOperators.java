// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.frontend.CustomOperators;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
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

    /**
     * How an operator of the file is imported.
     *
     * @throws KilnException if it is not supported, or not in its version
     */
    static Support find(OperatorRecord operator, CustomOperators customOperators, Supplier<String> where) {
        Optional<String> custom = operator.custom();
        if (custom.isPresent()) {
            return custom(operator, custom.get(), customOperators, where);
        }
        Support support = BY_CODE.get(operator.builtin());
        if (support == null) {
            throw new KilnException(new Problem(
                    "operator " + operator.name() + " version " + operator.version() + " is not supported",
                    where.get(),
                    "one of the " + BY_CODE.size() + " operators that the README lists",
                    "Change the model so that it does without this operator"));
        }
        if (operator.version() < 1 || operator.version() > support.maxVersion()) {
            throw new KilnException(new Problem(
                    operator.name() + " version " + operator.version() + " is not supported",
                    where.get(),
                    "version 1 to " + support.maxVersion(),
                    "Convert the model with a TensorFlow that writes an older version"));
        }
        return support;
    }

    /** What the user names a function for comes first. */
    private static Support custom(
            OperatorRecord operator, String code, CustomOperators customOperators, Supplier<String> where) {
        return customOperators
                .of(code)
                .<OperatorImporter>map(CustomImporter::new)
                .map(importer -> new Support(importer, operator.version()))
                .orElseThrow(() -> new KilnException(new Problem(
                        "nothing computes the custom operator `" + code + "`",
                        where.get(),
                        "a C function for it",
                        "Name one in the plugin's configuration: <customOperators><customOperator><code>" + code
                                + "</code><function>my_function</function></customOperator></customOperators>")));
    }

    /** All names. */
    static String names() {
        return new TreeMap<>(BY_CODE)
                .keySet().stream().map(BuiltinNames::of).sorted().collect(Collectors.joining(", "));
    }
}
