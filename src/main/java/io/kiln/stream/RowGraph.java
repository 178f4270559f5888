// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.stream.StoredValue.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/**
 * A program as the search for an order sees it: nodes in the order of the function, and the rows they read and write.
 *
 * @param nodes operators, then copies to outputs
 * @param values values that need memory: inputs, outputs, then intermediate values in the order in which they are
 * written
 * @param storage for each value of the function, index of the value that stores it
 */
record RowGraph(List<Node> nodes, List<Value> values, Map<Integer, Integer> storage) {
    RowGraph {
        nodes = List.copyOf(nodes);
        values = List.copyOf(values);
        storage = Map.copyOf(storage);
    }

    /**
     * What an operator takes.
     *
     * @param wholeScratch bytes of scratch in one call
     * @param rowScratch bytes of scratch when it is called step by step
     * @param work multiply-accumulates of all steps
     */
    record Cost(long wholeScratch, long rowScratch, long work) {
        /** Of a copy. */
        static final Cost NONE = new Cost(0, 0, 0);
    }

    /**
     * An operator, or a copy.
     *
     * @param uses values read
     * @param output index of the value written
     * @param steps in how many calls it can run: rows of its output, or of its input if it accumulates; 1 for what knows no range of rows
     * @param accumulates whether the output is there after the last step only, and scratch lives from the first to the last
     * @param block steps of one call when it is called step by step; divides the rings of what it reads and writes
     * @param cost what it takes
     */
    record Node(List<Use> uses, int output, int steps, boolean accumulates, int block, Cost cost) {
        Node {
            uses = List.copyOf(uses);
        }

        /** Bytes of scratch in one call. */
        long wholeScratch() {
            return cost.wholeScratch;
        }

        /** Bytes of scratch when it is called step by step. */
        long rowScratch() {
            return cost.rowScratch;
        }

        /** Multiply-accumulates of all steps. */
        long work() {
            return cost.work;
        }

        /** The same with fewer steps in one call. */
        Node inBlocksOf(int rows) {
            return new Node(uses, output, steps, accumulates, rows, cost);
        }

        /**
         * Whether a row of the output needs just the same row of each input, so that blocks of rows do not widen
         * windows.
         */
        boolean readsTheSameRow() {
            return uses.stream()
                    .allMatch(
                            use -> use.rows().firstRow(1, 2) == 1 && use.rows().endRow(1, 2) == 2);
        }

        /** Whether no row of the output exists before the last step. */
        boolean givesAllRowsAtOnce() {
            return accumulates || !canStep();
        }

        boolean canStep() {
            return steps > 1;
        }
    }

    /** The same program with one step per call. */
    RowGraph stepByStep() {
        return inBlocks(1, node -> true);
    }

    /** The same program with at most this many steps per call, and one step for operators that are not selected. */
    RowGraph inBlocks(int most, Predicate<Node> operators) {
        return new RowGraph(
                nodes.stream()
                        .map(node -> node.inBlocksOf(operators.test(node) ? Math.min(most, node.block()) : 1))
                        .toList(),
                values,
                storage);
    }

    /** The same program with blocks for the operators selected by index. */
    RowGraph inBlocks(IntPredicate operators) {
        List<Node> some = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            some.add(operators.test(i) ? nodes.get(i) : nodes.get(i).inBlocksOf(1));
        }
        return new RowGraph(some, values, storage);
    }

    /** Rows that divide the ring of a value: those of a call that writes or reads it. */
    int block(int value) {
        return nodes.stream()
                .filter(node -> node.output() == value || node.uses().stream().anyMatch(use -> use.value() == value))
                .mapToInt(Node::block)
                .max()
                .orElse(1);
    }

    /** Whether a node reads or changes a variable, so that it must run in the function's order. */
    boolean touchesState(int node) {
        return nodes.get(node).uses().stream()
                .anyMatch(use -> values.get(use.value()).place() == Place.STATE);
    }

    /** A value read: its index, and which of its rows each step needs. */
    record Use(int value, RowDependency rows) {}

    /**
     * A value.
     *
     * @param id of the value in the function, or a negative number for an output that is a copy
     * @param type its type when first computed
     * @param place who provides its memory
     * @param index index among the inputs or outputs; -1 for intermediate values
     * @param producer the node that writes it; -1 for inputs
     * @param lastUser the node that reads it last; its producer if there is none
     */
    record Value(int id, TensorType type, Place place, int index, int producer, int lastUser) {
        int rows() {
            return Rows.count(type.shape());
        }

        long rowBytes() {
            return type.bytes() / rows();
        }
    }

    /**
     * Reads a function.
     *
     * @param operators in order, without reshapes
     * @param whole the operators lowered for whole tensors
     * @param byRows the operators lowered for calls row by row
     */
    static RowGraph of(
            Function function,
            List<FusedOperator> operators,
            List<LoweredOperator> whole,
            List<LoweredOperator> byRows) {
        return new RowGraphReader(function, operators).read(whole, byRows);
    }
}
