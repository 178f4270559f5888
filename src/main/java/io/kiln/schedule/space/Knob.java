// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A named parameter of a schedule. A default value, if there is one, is omitted from configurations.
 *
 * @param name lower case with underscores
 * @param values values in the order of enumeration; empty for the default
 */
public record Knob(String name, List<Optional<String>> values) {
    public Knob {
        values = List.copyOf(values);
    }

    /** A knob without a default. */
    public static Knob of(String name, int... values) {
        return new Knob(
                name,
                Arrays.stream(values)
                        .mapToObj(Integer::toString)
                        .map(Optional::of)
                        .toList());
    }

    /** A flag without a default. */
    public static Knob of(String name, boolean... values) {
        List<Optional<String>> all = new ArrayList<>();
        for (boolean value : values) {
            all.add(Optional.of(Boolean.toString(value)));
        }
        return new Knob(name, all);
    }

    /** A knob with a default, and other values. */
    public static Knob unusual(String name, int... more) {
        return new Knob(
                name,
                Stream.concat(Stream.of(Optional.<String>empty()), of(name, more).values().stream())
                        .toList());
    }

    /** A flag that is written by its name when it is on; with the values that it can take. */
    public static Knob flag(String name, boolean... values) {
        List<Optional<String>> all = new ArrayList<>();
        for (boolean value : values) {
            all.add(value ? Optional.of("") : Optional.empty());
        }
        return new Knob(name, all);
    }
}
