// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Operators that a code generator computes as one function: each but the first reads the result of the one before it, which nothing else
 * reads, as its first argument.
 *
 * @param name {@code <code generator>.<what>}, such as {@code vecu.conv2d}
 * @param steps the operators in order; the first one is not optional
 * @param conditions all have to hold
 */
public record OperatorPattern(String name, List<PatternStep> steps, List<Condition> conditions) {
    /** Copies the lists. */
    public OperatorPattern {
        steps = List.copyOf(steps);
        conditions = List.copyOf(conditions);
    }

    /**
     * A pattern without conditions.
     *
     * @param name its name
     * @param steps the operators in order
     * @return the pattern
     */
    public static OperatorPattern of(String name, PatternStep... steps) {
        return new OperatorPattern(name, List.of(steps), List.of());
    }

    /**
     * The same pattern with one condition more.
     *
     * @param failure what {@code report.json} says of chains for which it does not hold
     * @param holds the condition
     * @return the narrower pattern
     */
    public OperatorPattern onlyIf(String failure, Predicate<OperatorChain> holds) {
        List<Condition> more = new ArrayList<>(conditions);
        more.add(new Condition(failure, holds));
        return new OperatorPattern(name, steps, more);
    }

    /**
     * A condition on operators that fit a pattern.
     *
     * @param failure the reason to state if it does not hold, such as {@code the unit has no groups}
     * @param holds the condition
     */
    public record Condition(String failure, Predicate<OperatorChain> holds) {}
}
