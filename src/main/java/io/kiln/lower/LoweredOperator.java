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
 * @param scratchBytes bytes of scratch in the workspace, where its buffers follow each other as {@link OperatorBuffers#nextScratch} says
 * @param executedMacs multiply-accumulates that the loops execute
 * @param schedule name of the schedule with its knobs
 * @param reason why this schedule, for people
 * @param rowBlock rows that it computes faster together than one by one
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

    /** An operator for which there was nothing to choose from. */
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

    /** The same with the reason for its schedule. */
    public LoweredOperator because(String newReason) {
        return new LoweredOperator(
                function, op, inputs, output, dependencies, scratchBytes, executedMacs, schedule, newReason, rowBlock);
    }

    /** The same with the rows that it likes to compute together. */
    public LoweredOperator inBlocksOf(int rows) {
        return new LoweredOperator(
                function, op, inputs, output, dependencies, scratchBytes, executedMacs, schedule, reason, rows);
    }
}
