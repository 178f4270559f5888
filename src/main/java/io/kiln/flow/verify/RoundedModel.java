// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.compile.Frontends;
import io.kiln.compile.ReadOptions;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.frontend.TfliteRounding;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A model with the arithmetic that the build chooses, and with that of the other library of TensorFlow Lite.
 *
 * @param function what the image computes
 * @param rounding whose arithmetic it has
 * @param other reads the model with the other arithmetic
 */
public record RoundedModel(Function function, TfliteRounding rounding, Supplier<Function> other) {
    /** A model file as a build reads it. */
    public static RoundedModel of(ReadOptions reading, ModelSource source) {
        return of(read(reading, source), reading, source);
    }

    /** A model that was read already. */
    public static RoundedModel of(Function function, ReadOptions reading, ModelSource source) {
        TfliteRounding rounding = reading.rounding();
        return new RoundedModel(function, rounding, () -> read(reading.with(rounding.other()), source));
    }

    /** A model whose arithmetic the build does not choose. */
    public static RoundedModel alone(Function function) {
        return new RoundedModel(function, TfliteRounding.MICRO, () -> function);
    }

    private static Function read(ReadOptions reading, ModelSource source) {
        return Frontends.read(source.file(), source.name(), source.shapes(), reading);
    }

    /** The model with the other arithmetic; empty if that is the same. */
    Optional<Function> otherwise() {
        Function otherwise = other.get();
        boolean isSame = RelayPrinter.astext(otherwise).equals(RelayPrinter.astext(function));
        return isSame ? Optional.empty() : Optional.of(otherwise);
    }
}
