// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.lower.LoweredOperator;
import java.util.List;

/** A step of a program. */
public sealed interface Step {
    /** Runs an operator over its whole output. */
    record Run(LoweredOperator operator) implements Step {}

    /**
     * Runs operators interleaved, row by row; each counts its own rows.
     *
     * @param lanes the operators
     * @param order the operator of each turn, by index into the lanes
     */
    record Stream(List<Lane> lanes, List<Integer> order) implements Step {
        public Stream {
            lanes = List.copyOf(lanes);
            order = List.copyOf(order);
        }
    }

    /**
     * An interleaved operator.
     *
     * @param operator lowered for ranges of rows
     * @param rows rows of its output, or of its input if it accumulates
     * @param block rows of one turn; the last turn may have fewer
     */
    record Lane(LoweredOperator operator, int rows, int block) {}

    /** Copies a stored value to another. */
    record Copy(int from, int to) implements Step {}
}
