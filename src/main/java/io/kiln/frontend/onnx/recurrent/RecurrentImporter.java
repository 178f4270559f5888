// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.recurrent;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A recurrent layer: data (time, batch, input), weights (directions, gates * hidden, input), recurrent weights
 * (directions, gates * hidden, hidden). The products with the weights are computed for all steps at once.
 *
 * @param gates number of gates
 * @param activations default activations of a direction
 * @param cell one step
 */
record RecurrentImporter(int gates, List<String> activations, Cell cell) implements OnnxImporter {
    /** One step of a layer. */
    interface Cell {
        /**
         * The state after a step.
         *
         * @param x products of the data with the weights, and their bias: (batch, gates * hidden)
         * @param state state before
         */
        State next(Direction direction, Arg x, State state);
    }

    /**
     * The state between steps.
     *
     * @param hidden result of the step before, (batch, hidden)
     * @param cell cell state of an LSTM; the hidden state for others
     */
    record State(Arg hidden, Arg cell) {}

    /**
     * What a direction reads.
     *
     * @param values (time, batch, input)
     * @param lengths steps of each sequence; behind them the state stays and the result is 0
     * @param isReverse whether each sequence begins with its last step
     */
    private record Sequences(Arg values, List<Long> lengths, boolean isReverse) {
        /** The first value for sequences that have a step, otherwise the second. */
        Arg within(Expressions e, int step, Arg value, Arg behind) {
            if (lengths.stream().allMatch(length -> step < length)) {
                return value;
            }
            List<Integer> marks = lengths.stream().map(n -> step < n ? 1 : 0).toList();
            Arg isWithin = e.cast(e.ints(marks, Shape.of(marks.size(), 1)), DType.BOOL);
            return e.where(isWithin, value, behind);
        }
    }

    private static final int BIAS = 3;
    private static final int LENGTHS = 4;
    private static final int INITIAL = 5;
    private static final int INITIAL_CELL = 6;

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        boolean isBatchFirst = node.attributes().truth("layout", false);
        Arg data = isBatchFirst ? e.transpose(node.arg(0), List.of(1, 0, 2)) : node.arg(0);
        Shape shape = e.shape(data);
        Shape recurrent = node.shape(2);
        node.require(
                shape.rank() == 3 && recurrent.rank() == 3 && recurrent.dim(1) == gates * recurrent.dim(2),
                "its data is " + shape.text() + " and its recurrent weight " + recurrent.text(),
                "three dimensions each");
        long stated = node.attributes().whole("hidden_size", recurrent.dim(2));
        node.require(
                stated == recurrent.dim(2),
                "its hidden_size is " + stated,
                "that of its recurrent weight " + recurrent.text());
        List<Long> lengths = lengths(node, shape);
        String direction = node.attributes().text("direction", "forward");
        int directions = direction.equals("bidirectional") ? 2 : 1;
        node.require(
                recurrent.dim(0) == directions,
                "its direction is `" + direction + "`",
                "that of its weights " + recurrent.text());
        List<Arg> sequences = new ArrayList<>();
        List<Arg> hidden = new ArrayList<>();
        List<Arg> cells = new ArrayList<>();
        for (int d = 0; d < directions; d++) {
            boolean isReverse = d == 1 || direction.equals("reverse");
            run(Direction.of(node, e, this, d), new Sequences(data, lengths, isReverse), sequences, hidden, cells);
        }
        finish(node, e, isBatchFirst, List.of(sequences, hidden, cells));
    }

    /** The number of steps of each sequence of a batch. */
    private static List<Long> lengths(NodeContext node, Shape data) {
        if (!node.has(LENGTHS)) {
            return Collections.nCopies(data.dim(1), (long) data.dim(0));
        }
        List<Long> lengths = node.integers(LENGTHS, "sequence_lens");
        node.require(
                lengths.size() == data.dim(1) && lengths.stream().allMatch(n -> n >= 0 && n <= data.dim(0)),
                "its lengths of sequences are " + lengths,
                data.dim(1) + " numbers up to " + data.dim(0));
        return lengths;
    }

    private void run(Direction direction, Sequences data, List<Arg> sequences, List<Arg> hidden, List<Arg> cells) {
        Expressions e = direction.expressions();
        Shape shape = e.shape(data.values());
        int steps = shape.dim(0);
        int batch = shape.dim(1);
        int units = gates * direction.hidden();
        Arg rows = e.reshape(data.values(), List.of(steps * batch, shape.dim(2)));
        Arg products = direction.withBias(direction.node().emit(new Dense(units), rows, direction.weight()));
        State state = initial(direction, batch);
        Arg[] outputs = new Arg[steps];
        for (int i = 0; i < steps; i++) {
            int step = data.isReverse() ? steps - 1 - i : i;
            Arg x = e.slice(products, 0, step * batch, (step + 1) * batch);
            State next = cell.next(direction, x, state);
            Arg none = e.number(0, DType.FLOAT32);
            Arg output = data.within(e, step, next.hidden(), none);
            state = new State(
                    data.within(e, step, next.hidden(), state.hidden()),
                    data.within(e, step, next.cell(), state.cell()));
            outputs[step] = e.reshape(output, List.of(1, 1, batch, direction.hidden()));
        }
        sequences.add(e.concatenate(List.of(outputs), 0));
        hidden.add(e.reshape(state.hidden(), List.of(1, batch, direction.hidden())));
        cells.add(e.reshape(state.cell(), List.of(1, batch, direction.hidden())));
    }

    private static State initial(Direction direction, int batch) {
        return new State(initial(direction, batch, INITIAL), initial(direction, batch, INITIAL_CELL));
    }

    private static Arg initial(Direction direction, int batch, int input) {
        Expressions e = direction.expressions();
        NodeContext node = direction.node();
        List<Integer> dims = List.of(batch, direction.hidden());
        if (!node.has(input)
                || (input == INITIAL_CELL && !node.node().operator().equals("LSTM"))) {
            return e.broadcast(e.number(0, DType.FLOAT32), new Shape(dims));
        }
        boolean isBatchFirst = node.attributes().truth("layout", false);
        Arg given = isBatchFirst ? e.transpose(node.arg(input), List.of(1, 0, 2)) : node.arg(input);
        return e.reshape(e.slice(given, 0, direction.index(), direction.index() + 1), dims);
    }

    /** Outputs: all steps (time, directions, batch, hidden), the last hidden state, the last cell state. */
    private static void finish(NodeContext node, Expressions e, boolean isBatchFirst, List<List<Arg>> values) {
        for (int i = 0; i < Math.min(values.size(), node.outputs()); i++) {
            Arg value = e.concatenate(values.get(i), i == 0 ? 1 : 0);
            if (isBatchFirst) {
                value = e.transpose(value, i == 0 ? List.of(2, 0, 1, 3) : List.of(1, 0, 2));
            }
            node.finish(i, value, node.element(0));
        }
    }

    /** The bias of a direction, if there is one: first that of the weights, then that of the recurrent weights. */
    static Optional<Arg> bias(NodeContext node, Expressions e, int direction) {
        return node.optional(BIAS).map(value -> e.slice(value.arg(), 0, direction, direction + 1));
    }
}
