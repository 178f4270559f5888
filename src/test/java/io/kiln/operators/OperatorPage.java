// SPDX-License-Identifier: Apache-2.0
package io.kiln.operators;

import io.kiln.base.DType;
import io.kiln.ir.Operators;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Operand.Role;
import io.kiln.ir.op.Signature;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The section of the documentation that shows the operators, by their signatures, and the places that know them. */
record OperatorPage(Map<String, Set<Place>> filled, Waivers waivers) {
    static final String HEADING = "## Operators of the IR\n";

    /** The section, heading included. */
    String text() {
        Map<Boolean, List<Place>> places = Stream.of(Place.values())
                .collect(Collectors.partitioningBy(
                        place -> filled.values().stream().allMatch(all -> all.contains(place))));
        return HEADING
                + String.format(
                                Locale.ROOT,
                                """

                                Operators of models become those of Kiln's IR, which Relay text shows with `kiln.dumpIr`. All %d are known to: %s. For the other places a
                                dot says that the place knows the operator, and a number why it does not. `M0` to `RV32` are cores for which there is a kernel of the
                                operator; without one it runs in loops that any C compiler translates.

                                | operator | operands | of | %s |
                                |---|---|---|%s
                                %s
                                Reasons:

                                %s
                                """,
                                filled.size(),
                                texts(places.get(true), ", "),
                                texts(places.get(false), " | "),
                                "---|".repeat(places.get(false).size()),
                                Operators.ALL.stream()
                                        .map(signature -> row(signature, places.get(false)))
                                        .collect(Collectors.joining()),
                                IntStream.range(0, waivers.reasons().size())
                                        .mapToObj(i -> (i + 1) + ". "
                                                + waivers.reasons().get(i))
                                        .collect(Collectors.joining("\n")))
                        .stripTrailing()
                + "\n";
    }

    private static String texts(List<Place> places, String between) {
        return places.stream().map(Place::text).collect(Collectors.joining(between));
    }

    private String row(Signature<? extends Op> signature, List<Place> places) {
        String cells = places.stream()
                .map(place -> filled.get(signature.name()).contains(place)
                        ? "•"
                        : waivers.number(signature.name(), place)
                                .map(String::valueOf)
                                .orElse(""))
                .collect(Collectors.joining(" | "));
        String operands =
                signature.operands().stream().map(OperatorPage::operand).collect(Collectors.joining(", "));
        return "| `" + signature.name() + "` | " + operands + " | " + types(signature.dataTypes()) + " | " + cells
                + " |\n";
    }

    private static String operand(Operand<?> operand) {
        String count =
                operand.number().fixed().map(n -> n == 1 ? "" : n + " × ").orElse("n × ");
        return count + operand.name() + (operand.role() == Role.STATE ? " (variable)" : "");
    }

    private static String types(Set<DType> types) {
        return Optional.of(types)
                .filter(some -> !some.isEmpty() && some.size() < DType.values().length)
                .map(some -> some.stream().sorted().map(DType::text).collect(Collectors.joining(", ")))
                .orElse("any");
    }
}
