// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.tir.PrimFunc;
import java.util.List;

/**
 * A fused operator as a loop nest.
 *
 * @param function the loops; its buffers are the inputs, the output, then the scratch if there is any
 * @param op Relay names of the fused operators joined by {@code +}
 * @param inputs ids of the values read, in the order of the parameters
 * @param output id of the value written
 * @param dependencies rows of each input that a range of output rows reads
 * @param scratchBytes bytes of scratch in the workspace, where its buffers are laid out by {@link
 * OperatorBuffers#nextScratch}
 * @param executedMacs multiply-accumulates that the loops execute
 * @param schedule name of the schedule with its knobs
 * @param reason why the schedule was chosen, for people
 * @param rowBlock number of rows that are faster to compute together than one by one
 */
public record LoweredOperator(
        PrimFunc function,
        String op,
        List<Integer> inputs,
        int output,
        List<RowDependency> dependencies,
        long scratchBytes,
        long executedMacs,
        String schedule,
        String reason,
        int rowBlock) {
    private static final String NO_CHOICE = "the only schedule for this operator";

    public LoweredOperator {
        inputs = List.copyOf(inputs);
        dependencies = List.copyOf(dependencies);
    }

    /** An operator without a choice of schedules. */
    public LoweredOperator(
            PrimFunc function,
            String op,
            List<Integer> inputs,
            int output,
            List<RowDependency> dependencies,
            long scratchBytes,
            long executedMacs,
            String schedule) {
        this(function, op, inputs, output, dependencies, scratchBytes, executedMacs, schedule, NO_CHOICE, 1);
    }

    /** A copy with the reason for its schedule. */
    public LoweredOperator because(String newReason) {
        return new LoweredOperator(
                function, op, inputs, output, dependencies, scratchBytes, executedMacs, schedule, newReason, rowBlock);
    }

    /** A copy with the preferred number of rows to compute together. */
    public LoweredOperator inBlocksOf(int rows) {
        return new LoweredOperator(
                function, op, inputs, output, dependencies, scratchBytes, executedMacs, schedule, reason, rows);
    }
}
