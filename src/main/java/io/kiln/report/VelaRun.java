// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A run of Vela, in {@code report.json}.
 *
 * @param version the version that it says it is
 * @param arguments what it was given after its name; files are named as in the folder where it ran
 * @param stayed the operators that it left on the core, and why, in its own words
 * @param estimates what it expects of the model, which nobody has measured: {@code cycles} and {@code milliseconds} of an inference,
 *     {@code sramKiB}, {@code dramKiB}, {@code onChipFlashKiB} and {@code offChipFlashKiB}; without what it did not say
 */
public record VelaRun(
        String version, List<String> arguments, List<String> stayed, SortedMap<String, Double> estimates) {
    public VelaRun {
        arguments = List.copyOf(arguments);
        stayed = List.copyOf(stayed);
        estimates = Collections.unmodifiableSortedMap(new TreeMap<>(estimates));
    }
}
