// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.recurrent;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.recurrent.RecurrentImporter.State;
import io.kiln.ir.Arg;

/** Steps of recurrent layers; formulas and the order of gates are those of ONNX's operator pages. */
final class Cells {
    private Cells() {}

    /** {@code f(x W + h R + b)}. */
    static State plain(Direction direction, Arg x, State state) {
        Expressions e = direction.expressions();
        Arg sum = direction.withRecurrentBias(e.add(x, direction.recurrent(state.hidden(), 0, 1)), 0, 1);
        Arg hidden = direction.activate(0, sum);
        return new State(hidden, hidden);
    }

    /** Gates: update, reset, hidden. With {@code linear_before_reset} the reset gate scales the product, else the state. */
    static State gated(Direction direction, Arg x, State state) {
        Expressions e = direction.expressions();
        Arg h = state.hidden();
        Arg both = direction.withRecurrentBias(
                e.add(e.slice(x, 1, 0, 2 * direction.hidden()), direction.recurrent(h, 0, 2)), 0, 2);
        Arg gates = direction.activate(0, both);
        Arg update = direction.gate(gates, 0);
        Arg reset = direction.gate(gates, 1);
        boolean isLinear = direction.node().attributes().truth("linear_before_reset", false);
        Arg product = isLinear
                ? e.multiply(reset, direction.withRecurrentBias(direction.recurrent(h, 2, 3), 2, 3))
                : direction.withRecurrentBias(direction.recurrent(e.multiply(reset, h), 2, 3), 2, 3);
        Arg candidate = direction.activate(1, e.add(direction.gate(x, 2), product));
        Arg rest = e.multiply(e.subtract(e.number(1, DType.FLOAT32), update), candidate);
        Arg hidden = e.add(rest, e.multiply(update, h));
        return new State(hidden, hidden);
    }

    /** Gates: input, output, forget, cell. Peepholes: input, output, forget. */
    static State longShort(Direction direction, Arg x, State state) {
        Expressions e = direction.expressions();
        Arg sum = direction.withRecurrentBias(e.add(x, direction.recurrent(state.hidden(), 0, 4)), 0, 4);
        boolean isCoupled = direction.node().attributes().truth("input_forget", false);
        Arg input = direction.activate(0, peeped(direction, direction.gate(sum, 0), state.cell(), 0));
        Arg forget = isCoupled
                ? e.subtract(e.number(1, DType.FLOAT32), input)
                : direction.activate(0, peeped(direction, direction.gate(sum, 2), state.cell(), 2));
        Arg candidate = direction.activate(1, direction.gate(sum, 3));
        Arg cell = e.add(e.multiply(forget, state.cell()), e.multiply(input, candidate));
        Arg output = direction.activate(0, peeped(direction, direction.gate(sum, 1), cell, 1));
        return new State(e.multiply(output, direction.activate(2, cell)), cell);
    }

    private static Arg peeped(Direction direction, Arg sum, Arg cell, int gate) {
        Expressions e = direction.expressions();
        return direction
                .peephole(gate)
                .map(weight -> e.add(sum, e.multiply(cell, weight)))
                .orElse(sum);
    }
}
