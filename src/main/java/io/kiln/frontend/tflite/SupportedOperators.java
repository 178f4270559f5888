// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.frontend.CustomOperators;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The operators that Kiln compiles: builtin ones by their code in the schema, custom ones by theirs; each family lists its own. */
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

    private static final Map<String, Support> BY_CUSTOM_CODE = Stream.of(
                    SignalOperators.ALL,
                    FilterBankImporters.ALL,
                    DetectionImporter.ALL,
                    DecodeImporter.ALL,
                    CircularBufferImporter.ALL)
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
                    "one of the " + (BY_CODE.size() + BY_CUSTOM_CODE.size()) + " operators that the README lists",
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

    /** What the user names a function for comes first. Versions of custom operators tell nothing. */
    private static Support custom(
            OperatorRecord operator, String code, CustomOperators customOperators, Supplier<String> where) {
        return customOperators
                .of(code)
                .<OperatorImporter>map(CustomImporter::new)
                .map(importer -> new Support(importer, operator.version()))
                .or(() -> Optional.ofNullable(BY_CUSTOM_CODE.get(code)))
                .orElseThrow(() -> new KilnException(new Problem(
                        "nothing computes the custom operator `" + code + "`",
                        where.get(),
                        "a C function for it",
                        "Name one in the plugin's configuration: <customOperators><customOperator><code>" + code
                                + "</code><function>my_function</function></customOperator></customOperators>")));
    }

    /** All names. */
    static String names() {
        return Stream.concat(BY_CODE.keySet().stream().map(BuiltinNames::of), BY_CUSTOM_CODE.keySet().stream())
                .sorted()
                .collect(Collectors.joining(", "));
    }
}
