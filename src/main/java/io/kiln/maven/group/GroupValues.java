// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** The values of a {@link ParameterGroup}: of each element that in XML, or else that of its property, or else its default. */
public final class GroupValues {
    private final ParameterGroup group;
    private final Map<String, String> given;
    private final GoalParameters parameters;

    /**
     * @param given texts of XML by name of the element
     */
    GroupValues(ParameterGroup group, Map<String, String> given, GoalParameters parameters) {
        this.group = group;
        this.given = given;
        this.parameters = parameters;
    }

    /** The text of an element; empty if it is not set and has no default. */
    Optional<String> find(Element element) {
        if (!group.elements().contains(element)) {
            throw new IllegalArgumentException(element + " is no element of " + group.name());
        }
        return Optional.ofNullable(given.get(element.name()))
                .flatMap(parameters::expanded)
                .filter(text -> !text.isBlank())
                .or(() -> parameters.property(group.property(element)))
                .or(element::usual);
    }

    /** The text of an element that has a default. */
    String text(Element element) {
        return find(element).orElseThrow();
    }

    /** The file that an element names, relative to the project's folder. */
    Optional<Path> file(Element element) {
        return find(element).filter(text -> !text.isBlank()).map(parameters::file);
    }

    /** The value of an element that has a default. */
    boolean flag(Element element) {
        return Boolean.parseBoolean(text(element).strip());
    }

    /** The number of an element that has a default. */
    long whole(Element element) {
        return number(element, Long::valueOf, "a whole number").orElseThrow();
    }

    /** The number of an element that has a default. */
    int small(Element element) {
        return smallIfSet(element).orElseThrow();
    }

    /** The number of an element without a default; empty if it is not set. */
    Optional<Integer> smallIfSet(Element element) {
        return number(element, Integer::valueOf, "a whole number");
    }

    /** The number of an element without a default; empty if it is not set. */
    Optional<Double> real(Element element) {
        return number(element, Double::valueOf, "a number");
    }

    private <N> Optional<N> number(Element element, Function<String, N> parser, String expected) {
        Optional<String> set = find(element).map(String::strip).filter(text -> !text.isEmpty());
        return set.or(element::usual).map(text -> {
            try {
                return parser.apply(text);
            } catch (NumberFormatException e) {
                throw new KilnException(
                        Failure.CONFIG.problem(group.property(element) + " is '" + text + "'", "", expected), e);
            }
        });
    }
}
