// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.ir.op.Op;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * One operator of a {@link CompositePattern}.
 *
 * @param relay its Relay name or names, joined by {@code _}, as TVM would state them
 * @param accepts which operators it stands for
 * @param optional whether it may be missing
 */
public record PatternStep(String relay, Predicate<Op> accepts, boolean optional) {
    public PatternStep {
        Objects.requireNonNull(relay, "the name of an operator");
        Objects.requireNonNull(accepts, "what a step accepts");
    }

    /** An operator that has to be there, by its class. */
    public static PatternStep of(String relay, Class<? extends Op> type) {
        return new PatternStep(relay, type::isInstance, false);
    }

    /** An operator that has to be there, by its {@link Op#name()}. */
    public static PatternStep named(String operator) {
        return new PatternStep(operator, op -> op.name().equals(operator), false);
    }

    /** The same step for an operator that may be missing. */
    public PatternStep orNone() {
        return new PatternStep(relay, accepts, true);
    }
}
