// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A named choice of a schedule. Its usual value, if it has one, is not written in a configuration.
 *
 * @param name lower case with underscores
 * @param values in the order in which they are enumerated; empty for the usual one
 */
public record Knob(String name, List<Optional<String>> values) {
    public Knob {
        values = List.copyOf(values);
    }

    /** A knob whose values are all written. */
    public static Knob of(String name, int... values) {
        return new Knob(
                name,
                Arrays.stream(values)
                        .mapToObj(Integer::toString)
                        .map(Optional::of)
                        .toList());
    }

    /** A knob that is on or off, both of which are written. */
    public static Knob of(String name, boolean... values) {
        List<Optional<String>> all = new ArrayList<>();
        for (boolean value : values) {
            all.add(Optional.of(Boolean.toString(value)));
        }
        return new Knob(name, all);
    }

    /** A knob with a usual value, which is not written, and more values. */
    public static Knob unusual(String name, int... more) {
        return new Knob(
                name,
                Stream.concat(Stream.of(Optional.<String>empty()), of(name, more).values().stream())
                        .toList());
    }

    /** A knob of which only the name is written, where it is on; the values that it can take. */
    public static Knob flag(String name, boolean... values) {
        List<Optional<String>> all = new ArrayList<>();
        for (boolean value : values) {
            all.add(value ? Optional.of("") : Optional.empty());
        }
        return new Knob(name, all);
    }
}
