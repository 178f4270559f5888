// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Rows;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The order of execution and the lifetimes of values.
 *
 * @param function the fused function
 * @param operators in the order of the function
 * @param steps in order
 * @param values values that need memory: inputs, outputs, then intermediate values in the order in which they are
 * written
 * @param storage id of the stored value that holds each value
 */
public record Program(
        Function function,
        List<LoweredOperator> operators,
        List<Step> steps,
        List<StoredValue> values,
        Map<Integer, Integer> storage) {
    public Program {
        operators = List.copyOf(operators);
        steps = List.copyOf(steps);
        values = List.copyOf(values);
        storage = Map.copyOf(storage);
    }

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

    /**
     * A value with memory of its own; its reshapes share the memory.
     *
     * @param id of the value, or a negative number for an output that is a copy
     * @param type its type when first computed
     * @param ring number of rows in its memory, a ring; 0 if it holds all
     * @param place who provides its memory
     * @param index index among the inputs or outputs; -1 for intermediate values
     * @param firstStep index of the operator that writes it, copies after the operators; -1 for inputs
     * @param lastStep index of the operator that reads it last
     */
    public record StoredValue(int id, TensorType type, int ring, Place place, int index, int firstStep, int lastStep) {
        /** Who provides the memory. */
        public enum Place {
            INPUT,
            OUTPUT,
            WORKSPACE,
            /** Its own static memory, which is kept between runs. */
            STATE
        }

        /** Number of elements in its memory. */
        public long elements() {
            long all = type.shape().elements();
            return ring == 0 ? all : all / Rows.count(type.shape()) * ring;
        }
    }

    /**
     * A program and its memory layout.
     *
     * @param layout offsets in the workspace
     */
    public record PlannedProgram(Program program, ProgramPools.WorkspaceLayout layout) {
        /** Whether another plan calls the same operators for the same rows in the same order, in as much memory. */
        public boolean runsAs(PlannedProgram other) {
            return layout.plan().bytes() == other.layout.plan().bytes() && calls().equals(other.calls());
        }

        private List<String> calls() {
            return program.steps().stream().map(PlannedProgram::text).toList();
        }

        private static String text(Step step) {
            if (step instanceof Step.Run run) {
                return run.operator().function().name();
            }
            if (step instanceof Step.Stream stream) {
                return stream.lanes().stream()
                        .map(lane -> lane.operator().function().name() + " " + lane.rows() + "/" + lane.block())
                        .collect(Collectors.joining(", ", "", " " + stream.order()));
            }
            return step.toString();
        }
    }
}
