// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.ir.op.Op;
import java.util.List;
import java.util.Objects;

/**
 * Operators that a code generator computes as one function: each but the first reads the result of the one before it, which nothing
 * else reads, as its first argument.
 *
 * @param name of the composite, {@code <code generator>.<what>}, such as {@code cmsis-nn.qnn_conv2d}
 * @param steps the operators in order; the first one is not optional
 * @param conditions all have to hold
 */
public record CompositePattern(String name, List<PatternStep> steps, List<Condition> conditions) {
    public CompositePattern {
        Objects.requireNonNull(name, "the name of a pattern");
        steps = List.copyOf(steps);
        conditions = List.copyOf(conditions);
        if (steps.isEmpty() || steps.get(0).optional()) {
            throw new IllegalArgumentException("pattern " + name + " has no first operator");
        }
    }

    /** Whether a match may begin with this operator. */
    public boolean beginsWith(Op op) {
        return steps.get(0).accepts().test(op);
    }
}
