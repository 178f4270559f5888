// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.tflite.constant.ConstantImporters;
import io.kiln.frontend.tflite.custom.CustomImporter;
import io.kiln.frontend.tflite.custom.EthosUImporter;
import io.kiln.frontend.tflite.elementwise.ElementwiseImporters;
import io.kiln.frontend.tflite.elementwise.StablehloImporters;
import io.kiln.frontend.tflite.layer.LayerImporters;
import io.kiln.frontend.tflite.layer.NormalizationImporters;
import io.kiln.frontend.tflite.layer.OrderImporters;
import io.kiln.frontend.tflite.layer.ReductionImporters;
import io.kiln.frontend.tflite.layer.SequenceImporters;
import io.kiln.frontend.tflite.movement.ImageImporters;
import io.kiln.frontend.tflite.movement.IndexedWindowImporters;
import io.kiln.frontend.tflite.movement.InteriorPadImporters;
import io.kiln.frontend.tflite.movement.LookupImporters;
import io.kiln.frontend.tflite.movement.MovementImporters;
import io.kiln.frontend.tflite.movement.ReduceWindowImporters;
import io.kiln.frontend.tflite.movement.RepeatImporters;
import io.kiln.frontend.tflite.operator.OperatorRecord;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.signal.FilterBankImporters;
import io.kiln.frontend.tflite.signal.SignalImporters;
import io.kiln.frontend.tflite.stateful.StatefulImporters;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The operators that Kiln compiles: the tables of all families combined. */
final class SupportedOperators {
    private static final List<Registration> ALL = Stream.of(
                    LayerImporters.ALL,
                    StatefulImporters.ALL,
                    MovementImporters.ALL,
                    ElementwiseImporters.ALL,
                    StablehloImporters.ALL,
                    ReductionImporters.ALL,
                    OrderImporters.ALL,
                    RepeatImporters.ALL,
                    InteriorPadImporters.ALL,
                    IndexedWindowImporters.ALL,
                    ReduceWindowImporters.ALL,
                    LookupImporters.ALL,
                    NormalizationImporters.ALL,
                    SequenceImporters.ALL,
                    ImageImporters.ALL,
                    ConstantImporters.ALL,
                    SignalImporters.ALL,
                    FilterBankImporters.ALL,
                    List.of(Registration.custom(EthosUImporter.CODE, new EthosUImporter())))
            .flatMap(List::stream)
            .toList();

    private static final Map<String, Registration> BUILTIN = byName(false);
    private static final Map<String, Registration> CUSTOM = byName(true);

    private SupportedOperators() {}

    private static Map<String, Registration> byName(boolean isCustom) {
        return ALL.stream()
                .filter(r -> r.isCustom() == isCustom)
                .collect(Collectors.toUnmodifiableMap(Registration::name, Function.identity()));
    }

    /**
     * The importer of an operator in the file.
     *
     * @throws KilnException if the operator or its version is not supported
     */
    static Registration find(OperatorRecord operator, CustomOperators customOperators, Supplier<String> where) {
        Optional<String> custom = operator.custom();
        if (custom.isPresent()) {
            return custom(custom.get(), customOperators, where);
        }
        Registration registration = BUILTIN.get(operator.name());
        if (registration == null) {
            UnsupportedOperators.Refusal refusal = UnsupportedOperators.of(operator.builtin());
            throw new KilnException(Failure.OPERATOR.problem(
                    "operator " + operator.name() + " version " + operator.version() + " is not supported: it "
                            + refusal.reason(),
                    where.get(),
                    "one of the " + ALL.size() + " operators that the documentation lists",
                    refusal.next()));
        }
        if (operator.version() < 1 || operator.version() > registration.maxVersion()) {
            throw new KilnException(Failure.OPERATOR.problem(
                    operator.name() + " version " + operator.version() + " is not supported",
                    where.get(),
                    "version 1 to " + registration.maxVersion(),
                    "Convert the model with a TensorFlow that writes an older version"));
        }
        return registration;
    }

    /** A C function of the user takes precedence over Kiln's own operator. */
    private static Registration custom(String code, CustomOperators customOperators, Supplier<String> where) {
        return customOperators
                .of(code)
                .map(own -> Registration.custom(code, new CustomImporter(own)))
                .or(() -> Optional.ofNullable(CUSTOM.get(code)))
                .orElseThrow(() -> unknown(code, where.get()));
    }

    private static KilnException unknown(String code, String where) {
        Optional<UnsupportedOperators.Refusal> known = UnsupportedOperators.custom(code);
        return new KilnException(Failure.OPERATOR.problem(
                "no C function computes the custom operator `" + code + "`"
                        + known.map(refusal -> ", " + refusal.reason()).orElse(""),
                where,
                "a C function for it",
                known.map(refusal -> refusal.next() + ". ").orElse("")
                        + "Name one in the plugin's configuration: <customOperators><customOperator><code>" + code
                        + "</code><function>my_function</function></customOperator></customOperators>"));
    }

    /** All names, in order. */
    static String names() {
        return ALL.stream().map(Registration::name).sorted().collect(Collectors.joining(", "));
    }
}
