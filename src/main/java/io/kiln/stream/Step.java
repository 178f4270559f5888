// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.lower.LoweredOperator;
import java.util.List;

/** A step of a program. */
public sealed interface Step {
    /** Runs an operator over its whole output. */
    record Run(LoweredOperator operator) implements Step {}

    /**
     * Runs operators interleaved, row by row; each keeps count of its own rows.
     *
     * @param operators lowered for ranges of rows
     * @param order which operator computes its next row, by index into the operators
     */
    record Stream(List<LoweredOperator> operators, List<Integer> order) implements Step {
        public Stream {
            operators = List.copyOf(operators);
            order = List.copyOf(order);
        }
    }

    /** Copies a stored value to another. */
    record Copy(int from, int to) implements Step {}
}
