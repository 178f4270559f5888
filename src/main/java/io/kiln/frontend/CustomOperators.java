// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Failure;
import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The operators computed by the user's C functions; each code once. */
public record CustomOperators(List<CustomOperator> list) {
    /** No custom operators. */
    public static final CustomOperators NONE = new CustomOperators(List.of());

    private static final int PARTS = 6;

    public CustomOperators {
        list = List.copyOf(list);
    }

    /**
     * The operators, checked.
     *
     * @throws io.kiln.base.KilnException with all of their errors
     */
    public static CustomOperators of(List<CustomOperator> list) {
        Problems problems = new Problems(Failure.CONFIG);
        Set<String> codes = new HashSet<>();
        for (CustomOperator operator : list) {
            operator.check(problems);
            if (!codes.add(operator.code())) {
                problems.add("`" + operator.code() + "` exists twice", "kiln.customOperators", "every code once", "");
            }
        }
        problems.throwIfAny();
        return new CustomOperators(list);
    }

    /**
     * Parses {@code MyOp:my_op:my_op.h:input0:quantization,options:src/test/c/my_op.c;Other:other}; all but code and
     * function are optional.
     *
     * @param text the text; blank for none
     */
    public static List<CustomOperator> parse(String text) {
        List<CustomOperator> list = new ArrayList<>();
        for (String entry : text.split(";", -1)) {
            if (!entry.isBlank()) {
                List<String> parts = new ArrayList<>(
                        Stream.of(entry.split(":", PARTS)).map(String::strip).toList());
                while (parts.size() < PARTS) {
                    parts.add("");
                }
                list.add(new CustomOperator(
                        parts.get(0), parts.get(1), parts.get(2), parts.get(3), parts.get(4), parts.get(5)));
            }
        }
        return list;
    }

    /** The operator of a code. */
    public Optional<CustomOperator> of(String code) {
        return list.stream().filter(o -> o.code().equals(code)).findFirst();
    }

    /** The form that {@link #parse} reads. */
    public String text() {
        return list.stream()
                .map(o -> String.join(":", o.code(), o.function(), o.header(), o.shape(), o.passed(), o.reference()))
                .collect(Collectors.joining(";"));
    }
}
