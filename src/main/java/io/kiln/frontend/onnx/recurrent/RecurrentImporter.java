// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.recurrent;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A recurrent layer: data (time, batch, input), weights (directions, gates * hidden, input), recurrent weights
 * (directions, gates * hidden, hidden). The products with the weights are computed for all steps at once.
 *
 * @param gates number of gates
 * @param activations default activations of a direction
 * @param cell one step
 */
public record RecurrentImporter(int gates, List<String> activations, Cell cell) implements OnnxImporter {
    public static final List<OnnxRegistration> ALL = List.of(
            onnx("RNN", new RecurrentImporter(1, List.of("Tanh"), RecurrentImporter::plain)),
            onnx("GRU", new RecurrentImporter(3, List.of("Sigmoid", "Tanh"), RecurrentImporter::gated)),
            onnx("LSTM", new RecurrentImporter(4, List.of("Sigmoid", "Tanh", "Tanh"), RecurrentImporter::longShort)));

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
        Arg within(NodeContext node, int step, Arg value, Arg behind) {
            if (lengths.stream().allMatch(length -> step < length)) {
                return value;
            }
            List<Integer> marks = lengths.stream().map(n -> step < n ? 1 : 0).toList();
            Arg isWithin = node.cast(node.ints(marks, Shape.of(marks.size(), 1)), DType.BOOL);
            return node.where(isWithin, value, behind);
        }
    }

    private static final int BIAS = 3;
    private static final int LENGTHS = 4;
    private static final int INITIAL = 5;
    private static final int INITIAL_CELL = 6;

    @Override
    public void emit(NodeContext node) {
        boolean isBatchFirst = node.truth("layout", false);
        Arg data = isBatchFirst ? node.transpose(node.arg(0), List.of(1, 0, 2)) : node.arg(0);
        Shape shape = node.shape(data);
        Shape recurrent = node.shape(2);
        node.require(
                shape.rank() == 3 && recurrent.rank() == 3 && recurrent.dim(1) == gates * recurrent.dim(2),
                "its data is " + shape.text() + " and its recurrent weight " + recurrent.text(),
                "three dimensions each");
        long stated = node.whole("hidden_size", recurrent.dim(2));
        node.require(
                stated == recurrent.dim(2),
                "its hidden_size is " + stated,
                "that of its recurrent weight " + recurrent.text());
        List<Long> lengths = lengths(node, shape);
        String direction = node.text("direction", "forward");
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
            run(Direction.of(node, this, d), new Sequences(data, lengths, isReverse), sequences, hidden, cells);
        }
        finish(node, isBatchFirst, List.of(sequences, hidden, cells));
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
        NodeContext node = direction.node();
        Shape shape = node.shape(data.values());
        int steps = shape.dim(0);
        int batch = shape.dim(1);
        int units = gates * direction.hidden();
        Arg rows = node.reshape(data.values(), List.of(steps * batch, shape.dim(2)));
        Arg products = direction.withBias(node.emit(new Dense(units), rows, direction.weight()));
        State state = initial(direction, batch);
        Arg[] outputs = new Arg[steps];
        for (int i = 0; i < steps; i++) {
            int step = data.isReverse() ? steps - 1 - i : i;
            Arg x = node.slice(products, 0, step * batch, (step + 1) * batch);
            State next = cell.next(direction, x, state);
            Arg none = node.real(0);
            Arg output = data.within(node, step, next.hidden(), none);
            state = new State(
                    data.within(node, step, next.hidden(), state.hidden()),
                    data.within(node, step, next.cell(), state.cell()));
            outputs[step] = node.reshape(output, List.of(1, 1, batch, direction.hidden()));
        }
        sequences.add(node.concatenate(List.of(outputs), 0));
        hidden.add(node.reshape(state.hidden(), List.of(1, batch, direction.hidden())));
        cells.add(node.reshape(state.cell(), List.of(1, batch, direction.hidden())));
    }

    private static State initial(Direction direction, int batch) {
        return new State(initial(direction, batch, INITIAL), initial(direction, batch, INITIAL_CELL));
    }

    private static Arg initial(Direction direction, int batch, int input) {
        NodeContext node = direction.node();
        List<Integer> dims = List.of(batch, direction.hidden());
        if (!node.has(input) || (input == INITIAL_CELL && !node.is("LSTM"))) {
            return node.broadcast(node.real(0), new Shape(dims));
        }
        boolean isBatchFirst = node.truth("layout", false);
        Arg given = isBatchFirst ? node.transpose(node.arg(input), List.of(1, 0, 2)) : node.arg(input);
        return node.reshape(node.slice(given, 0, direction.index(), direction.index() + 1), dims);
    }

    /** Outputs: all steps (time, directions, batch, hidden), the last hidden state, the last cell state. */
    private static void finish(NodeContext node, boolean isBatchFirst, List<List<Arg>> values) {
        for (int i = 0; i < Math.min(values.size(), node.outputs()); i++) {
            Arg value = node.concatenate(values.get(i), i == 0 ? 1 : 0);
            if (isBatchFirst) {
                value = node.transpose(value, i == 0 ? List.of(2, 0, 1, 3) : List.of(1, 0, 2));
            }
            node.finish(i, value, node.element(0));
        }
    }

    /** The bias of a direction, if there is one: first that of the weights, then that of the recurrent weights. */
    private static Optional<Arg> bias(NodeContext node, int direction) {
        return node.optional(BIAS).map(value -> node.slice(value.arg(), 0, direction, direction + 1));
    }

    /** {@code f(x W + h R + b)}. */
    private static State plain(Direction direction, Arg x, State state) {
        NodeContext node = direction.node();
        Arg sum = direction.withRecurrentBias(node.add(x, direction.recurrent(state.hidden(), 0, 1)), 0, 1);
        Arg hidden = direction.activate(0, sum);
        return new State(hidden, hidden);
    }

    /** Gates: update, reset, hidden. With {@code linear_before_reset} the reset gate scales the product, else the state. */
    private static State gated(Direction direction, Arg x, State state) {
        NodeContext node = direction.node();
        Arg h = state.hidden();
        Arg both = direction.withRecurrentBias(
                node.add(node.slice(x, 1, 0, 2 * direction.hidden()), direction.recurrent(h, 0, 2)), 0, 2);
        Arg gates = direction.activate(0, both);
        Arg update = direction.gate(gates, 0);
        Arg reset = direction.gate(gates, 1);
        boolean isLinear = node.truth("linear_before_reset", false);
        Arg product = isLinear
                ? node.multiply(reset, direction.withRecurrentBias(direction.recurrent(h, 2, 3), 2, 3))
                : direction.withRecurrentBias(direction.recurrent(node.multiply(reset, h), 2, 3), 2, 3);
        Arg candidate = direction.activate(1, node.add(direction.gate(x, 2), product));
        Arg rest = node.multiply(node.subtract(node.real(1), update), candidate);
        Arg hidden = node.add(rest, node.multiply(update, h));
        return new State(hidden, hidden);
    }

    /** Gates: input, output, forget, cell. Peepholes: input, output, forget. */
    private static State longShort(Direction direction, Arg x, State state) {
        NodeContext node = direction.node();
        Arg sum = direction.withRecurrentBias(node.add(x, direction.recurrent(state.hidden(), 0, 4)), 0, 4);
        boolean isCoupled = node.truth("input_forget", false);
        Arg input = direction.activate(0, peeped(direction, direction.gate(sum, 0), state.cell(), 0));
        Arg forget = isCoupled
                ? node.subtract(node.real(1), input)
                : direction.activate(0, peeped(direction, direction.gate(sum, 2), state.cell(), 2));
        Arg candidate = direction.activate(1, direction.gate(sum, 3));
        Arg cell = node.add(node.multiply(forget, state.cell()), node.multiply(input, candidate));
        Arg output = direction.activate(0, peeped(direction, direction.gate(sum, 1), cell, 1));
        return new State(node.multiply(output, direction.activate(2, cell)), cell);
    }

    private static Arg peeped(Direction direction, Arg sum, Arg cell, int gate) {
        NodeContext node = direction.node();
        return direction
                .peephole(gate)
                .map(weight -> node.add(sum, node.multiply(cell, weight)))
                .orElse(sum);
    }

    /**
     * A recurrent layer in one direction.
     *
     * @param index 0, or 1 for the second direction
     * @param activations names of the activations
     * @param weights recurrent weights of gates, from one to another, used in each step
     */
    private record Direction(
            NodeContext node, int index, int gates, List<String> activations, Map<List<Integer>, Arg> weights) {
        private static final int PEEPHOLES = 7;

        static Direction of(NodeContext node, RecurrentImporter layer, int index) {
            int count = layer.activations().size();
            List<String> stated = node.texts("activations").orElse(List.of());
            boolean isStated = stated.size() >= (index + 1) * count;
            List<String> activations =
                    isStated ? stated.subList(index * count, (index + 1) * count) : layer.activations();
            return new Direction(node, index, layer.gates(), activations, new HashMap<>());
        }

        int hidden() {
            return node.shape(2).dim(2);
        }

        /** The weights of the data, (gates * hidden, input). */
        Arg weight() {
            return matrix(1);
        }

        private Arg matrix(int input) {
            Shape shape = node.shape(input);
            return node.reshape(node.slice(node.arg(input), 0, index, index + 1), List.of(shape.dim(1), shape.dim(2)));
        }

        /** Products with some gates' rows of the recurrent weights. */
        Arg recurrent(Arg hidden, int from, int to) {
            Arg weight = weights.computeIfAbsent(
                    List.of(from, to), rows -> node.slice(matrix(2), 0, from * hidden(), to * hidden()));
            return node.emit(new Dense((to - from) * hidden()), hidden, weight);
        }

        /** The products of the data with the first half of the bias. */
        Arg withBias(Arg products) {
            return half(0).map(bias -> node.emit(new BiasAdd(-1), products, bias))
                    .orElse(products);
        }

        /** Some gates' part of the second half of the bias, added. */
        Arg withRecurrentBias(Arg sum, int from, int to) {
            return half(1).map(bias -> node.add(sum, node.slice(bias, 0, from * hidden(), to * hidden())))
                    .orElse(sum);
        }

        private Optional<Arg> half(int which) {
            int units = gates * hidden();
            return RecurrentImporter.bias(node, index)
                    .map(both ->
                            node.slice(node.reshape(both, List.of(2 * units)), 0, which * units, (which + 1) * units));
        }

        /** The columns of a gate. */
        Arg gate(Arg all, int gate) {
            return node.slice(all, 1, gate * hidden(), (gate + 1) * hidden());
        }

        /** Peephole weights, from the cell state to one of the gates input, output and forget. */
        Optional<Arg> peephole(int gate) {
            return node.optional(PEEPHOLES)
                    .map(value -> node.slice(
                            node.reshape(node.slice(value.arg(), 0, index, index + 1), List.of(3 * hidden())),
                            0,
                            gate * hidden(),
                            (gate + 1) * hidden()));
        }

        /** An activation, after the limits of {@code clip}. */
        Arg activate(int which, Arg value) {
            Arg x = node.real("clip")
                    .map(limit -> node.emit(new Clip(-limit, limit), value))
                    .orElse(value);
            String name = activations.get(which).toLowerCase(Locale.ROOT);
            return switch (name) {
                case "sigmoid" -> node.unary(Unary.Kind.SIGMOID, x);
                case "tanh" -> node.unary(Unary.Kind.TANH, x);
                case "relu" -> node.emit(new Clip(0, Float.MAX_VALUE), x);
                case "affine" -> node.add(node.multiply(x, alpha(which, 1)), beta(which, 0));
                case "leakyrelu" -> node.emit(new LeakyRelu(alpha(which, 0.01f)), x);
                case "hardsigmoid" ->
                    node.emit(new Clip(0, 1), node.add(node.multiply(x, alpha(which, 0.2f)), beta(which, 0.5f)));
                case "scaledtanh" ->
                    node.multiply(node.unary(Unary.Kind.TANH, node.multiply(x, beta(which, 1))), alpha(which, 1));
                case "elu" -> {
                    node.require(alpha(which, 1) == 1, "its activation Elu has an alpha", "1");
                    yield node.unary(Unary.Kind.ELU, x);
                }
                case "softsign" -> node.divide(x, node.add(node.abs(x), node.real(1)));
                default ->
                    throw node.failure(
                            "its activation is `" + activations.get(which) + "`",
                            "an activation of ONNX's recurrent layers");
            };
        }

        private float alpha(int which, float otherwise) {
            return parameter("activation_alpha", which, otherwise);
        }

        private float beta(int which, float otherwise) {
            return parameter("activation_beta", which, otherwise);
        }

        private float parameter(String name, int which, float otherwise) {
            List<Float> stated = node.reals(name).orElse(List.of());
            int at = index * activations.size() + which;
            return at < stated.size() ? stated.get(at) : otherwise;
        }
    }
}
