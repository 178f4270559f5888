// SPDX-License-Identifier: Apache-2.0
package io.kiln.operators;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Why a place does not know an operator. The text has a line for each reason, and below it, indented, lines of places, a colon, and
 * operators.
 */
final class Waivers {
    private final List<String> reasons = new ArrayList<>();
    private final Map<String, Map<Place, Integer>> numbers = new TreeMap<>();
    private final List<String> repeated = new ArrayList<>();

    static Waivers of(String text) {
        Waivers waivers = new Waivers();
        text.lines().filter(line -> !line.isBlank()).forEach(line -> {
            if (line.startsWith(" ")) {
                waivers.add(line.strip());
            } else {
                waivers.reasons.add(line);
            }
        });
        return waivers;
    }

    private void add(String line) {
        int colon = line.indexOf(": ");
        for (String place : line.substring(0, colon).split(", ", -1)) {
            for (String operator : line.substring(colon + 2).split(" ", -1)) {
                Integer before = numbers.computeIfAbsent(operator, any -> new EnumMap<>(Place.class))
                        .put(Place.of(place), reasons.size());
                if (before != null) {
                    repeated.add(operator + " in " + place);
                }
            }
        }
    }

    /** The number of the reason, from 1. */
    Optional<Integer> number(String operator, Place place) {
        return Optional.ofNullable(numbers.getOrDefault(operator, Map.of()).get(place));
    }

    List<String> reasons() {
        return reasons;
    }

    /** Cells with several reasons. */
    List<String> repeated() {
        return repeated;
    }

    /** All cells with a reason: an operator, and a place. */
    Stream<Map.Entry<String, Place>> cells() {
        return numbers.entrySet().stream()
                .flatMap(each -> each.getValue().keySet().stream().map(place -> Map.entry(each.getKey(), place)));
    }
}
