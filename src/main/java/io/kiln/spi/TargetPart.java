// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The code generator's part of a composite target, such as {@code vecu -lanes=8} of {@code vecu -lanes=8, c -mcpu=cortex-m4}.
 *
 * @param name name of the code generator
 * @param options its options, without leading dashes
 * @param host the target of all operators that no code generator takes
 */
public record TargetPart(String name, SortedMap<String, String> options, String host) {
    /** Copies the options. */
    public TargetPart {
        options = Collections.unmodifiableSortedMap(new TreeMap<>(options));
    }

    /**
     * The value of an option.
     *
     * @param option its name
     * @param otherwise the value if the target does not give it
     * @return one of both
     */
    public String option(String option, String otherwise) {
        return options.getOrDefault(option, otherwise);
    }
}
