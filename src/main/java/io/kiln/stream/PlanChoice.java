// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import java.util.ArrayList;
import java.util.List;

/**
 * How a program is planned: the order of its operators, how many rows those that run interleaved compute in one call, and how much memory they
 * may take for fewer calls.
 *
 * @param order the order of the operators
 * @param blocks rows of a call
 * @param memory percent of the least memory that suffices row by row; 100 if all operators run whole
 */
public record PlanChoice(Order order, Blocks blocks, int memory) {
    private static final List<Integer> MEMORIES = List.of(100, 107, 115, 130, 160, 200, 300);

    /** An order of operators. */
    public enum Order {
        /** The order of the function. */
        FUNCTION,
        /** The order in which the fewest bytes of whole values are alive at once. */
        LEAST_PEAK
    }

    /** How many rows an operator computes in one call. */
    public enum Blocks {
        /** All rows: nothing is interleaved. */
        WHOLE,
        /** The preferred number of its schedule. */
        PREFERRED,
        /** The preferred number, but one row where a block would widen the window that is held of the input. */
        SAME_ROW,
        /** At most two rows. */
        TWO,
        /** At most two rows, but one where two would widen the window. */
        TWO_OF_SAME_ROW,
        /** The preferred number for those operators that save the most by it within the memory, one row for all others. */
        SOME,
        /** One row in each call. */
        ONE
    }

    /** The values of {@link #memory}. */
    public static List<Integer> memories() {
        return MEMORIES;
    }

    /** All choices for a program. */
    public static List<PlanChoice> all() {
        List<PlanChoice> all = new ArrayList<>();
        for (Order order : Order.values()) {
            all.add(new PlanChoice(order, Blocks.WHOLE, 100));
            for (Blocks blocks : Blocks.values()) {
                if (blocks != Blocks.WHOLE) {
                    MEMORIES.forEach(memory -> all.add(new PlanChoice(order, blocks, memory)));
                }
            }
        }
        return List.copyOf(all);
    }
}
