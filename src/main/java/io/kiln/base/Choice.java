// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads parameters that have a few named values. */
public final class Choice {
    private Choice() {}

    /**
     * The value of this text.
     *
     * @param parameter name of the parameter, for the message
     * @param text what the user wrote
     * @param values what there is, in the order of the message
     * @param name how a value is written
     * @throws KilnException with the values that there are, if it is none of them
     */
    public static <T> T of(String parameter, String text, List<T> values, Function<T, String> name) {
        return values.stream()
                .filter(value -> name.apply(value).equals(text))
                .findFirst()
                .orElseThrow(() -> new KilnException(new Problem(
                        parameter + " is '" + text + "'",
                        "",
                        "one of " + values.stream().map(name).collect(Collectors.joining(", ")),
                        "Change " + parameter)));
    }
}
