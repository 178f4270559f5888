// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Parameters whose values are the constants of an enum, written in lower case with hyphens. */
public final class ParameterValue {
    private ParameterValue() {}

    /** The user's form of a constant. */
    public static String text(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * Reads a value.
     *
     * @param parameter its name, for the message
     * @param type the enum
     * @param text the user's text
     * @throws KilnException if it is not one of the values, with the list of values
     */
    public static <E extends Enum<E>> E of(String parameter, Class<E> type, String text) {
        List<E> constants = Arrays.asList(type.getEnumConstants());
        return constants.stream()
                .filter(constant -> text(constant).equals(text))
                .findFirst()
                .orElseThrow(() -> Failure.CONFIG.exception(
                        parameter + " is '" + text + "'",
                        "",
                        "one of "
                                + String.join(
                                        ", ",
                                        constants.stream()
                                                .map(ParameterValue::text)
                                                .toList()),
                        "Change " + parameter));
    }
}
