// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.tir.Buffer;
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
 * @param cost its cost
 * @param choice the schedule
 */
public record LoweredOperator(
        PrimFunc function,
        String op,
        List<Integer> inputs,
        int output,
        List<RowDependency> dependencies,
        Cost cost,
        Choice choice) {
    /**
     * The cost of a loop nest.
     *
     * @param scratchBytes bytes of scratch in the workspace, where its buffers follow each other as {@link OperatorBuffers#nextScratch} says
     * @param executedMacs multiply-accumulates that the loops execute
     * @param passes how often the loops traverse the weights; 0 if that follows from the other figures
     * @param alignment least alignment in bytes of its output and its scratch, where they lie in the workspace
     */
    public record Cost(long scratchBytes, long executedMacs, long passes, int alignment) {
        /** A cost from which the number of passes follows. */
        public Cost(long scratchBytes, long executedMacs) {
            this(scratchBytes, executedMacs, 0, 1);
        }

        private Cost with(long macs, long traversed) {
            return new Cost(scratchBytes, macs, traversed, alignment);
        }
    }

    /**
     * A schedule that was chosen.
     *
     * @param schedule its name with its knobs
     * @param reason the reason, for people
     * @param rowBlock rows that it computes faster together than one by one
     */
    public record Choice(String schedule, String reason, int rowBlock) {
        /** The schedule of an operator for which there was nothing to choose from. */
        public static Choice only(String schedule) {
            return new Choice(schedule, "the only schedule for this operator", 1);
        }
    }

    public LoweredOperator {
        inputs = List.copyOf(inputs);
        dependencies = List.copyOf(dependencies);
    }

    /** A copy with the number of multiply-accumulates that its loops execute. */
    public LoweredOperator executing(long macs) {
        return with(cost.with(macs, cost.passes));
    }

    /** A copy whose loops traverse the weights so often. */
    public LoweredOperator traversing(long passes) {
        return with(cost.with(cost.executedMacs, passes));
    }

    /**
     * How often the loops traverse each table in one inference, at least once. A layer traverses its weights for each block of pixels; of others
     * it is the number of products, or of elements of the output if there are none, for each element of the tables.
     */
    public long passes() {
        if (cost.passes > 0) {
            return cost.passes;
        }
        long elements = function.constants().stream()
                .mapToLong(table -> table.buffer().elements())
                .sum();
        long written = function.buffers().stream()
                .filter(buffer -> buffer.scope() == Buffer.Scope.OUTPUT)
                .mapToLong(Buffer::elements)
                .sum();
        long reads = cost.executedMacs > 0 ? cost.executedMacs : written;
        return elements == 0 ? 1 : Math.max(1, (reads + elements - 1) / elements);
    }

    /**
     * Lines of slow memory that one inference reads for a table that lies there: each once if the cache holds the table and two lines more, which
     * are left to what else is read and to tables that begin within a line of the cache; otherwise all in each pass.
     *
     * @param tableBytes size of the table
     * @param lineBytes bytes that one access reads
     * @param cacheBytes size of the cache for constants; 0 if there is none
     */
    public long lineReads(long tableBytes, int lineBytes, long cacheBytes) {
        long lines = (tableBytes + lineBytes - 1) / lineBytes;
        return tableBytes > cacheBytes - 2L * lineBytes ? passes() * lines : lines;
    }

    /** A copy with the reason for its schedule. */
    public LoweredOperator because(String newReason) {
        return with(new Choice(choice.schedule, newReason, choice.rowBlock));
    }

    /** A copy with the preferred number of rows to compute together. */
    public LoweredOperator inBlocksOf(int rows) {
        return with(new Choice(choice.schedule, choice.reason, rows));
    }

    /** A copy with another function that computes the same. */
    public LoweredOperator with(PrimFunc newFunction) {
        return new LoweredOperator(newFunction, op, inputs, output, dependencies, cost, choice);
    }

    /** A copy whose output and scratch in the workspace are aligned to so many bytes. */
    public LoweredOperator aligned(int bytes) {
        return with(new Cost(cost.scratchBytes, cost.executedMacs, cost.passes, bytes));
    }

    private LoweredOperator with(Cost newCost) {
        return new LoweredOperator(function, op, inputs, output, dependencies, newCost, choice);
    }

    private LoweredOperator with(Choice newChoice) {
        return new LoweredOperator(function, op, inputs, output, dependencies, cost, newChoice);
    }

    /** Bytes of scratch in the workspace. */
    public long scratchBytes() {
        return cost.scratchBytes;
    }

    /** Multiply-accumulates that the loops execute. */
    public long executedMacs() {
        return cost.executedMacs;
    }

    /** Name of the schedule with its knobs. */
    public String schedule() {
        return choice.schedule;
    }

    /** The reason for this schedule, for people. */
    public String reason() {
        return choice.reason;
    }

    /** Rows that it computes faster together than one by one. */
    public int rowBlock() {
        return choice.rowBlock;
    }
}
