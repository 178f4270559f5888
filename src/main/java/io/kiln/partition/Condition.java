// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import java.util.Objects;
import java.util.function.Predicate;

/**
 * A condition on operators that fit a pattern.
 *
 * @param failure the reason to state if it does not hold, for people, such as {@code the kernel's zero point is not 0}
 * @param holds the condition
 */
public record Condition(String failure, Predicate<Match> holds) {
    public Condition {
        Objects.requireNonNull(failure, "the failure of a condition");
        Objects.requireNonNull(holds, "a condition");
    }
}
