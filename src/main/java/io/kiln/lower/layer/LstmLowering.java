// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.max;
import static io.kiln.tir.Exprs.min;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shr;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.Int16Functions;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RequantizeCalls;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.SumKernels;
import io.kiln.lower.Tables;
import io.kiln.lower.element.ElementFunction;
import io.kiln.lower.element.TableFunctions;
import io.kiln.lower.element.UnaryFunctions;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * {@link Lstm}: step by step for each sequence, unit by unit; the hidden state gets a step's results after all units
 * are computed.
 */
final class LstmLowering {
    /** Converts 12 fraction bits to steps of 1/12288. */
    private static final int GATE_MULTIPLIER = 3;

    /** Products of two int16, of which one is a function's result and never the least number. */
    private static final long PRODUCT_BOUND = (1L << 15) * Short.MAX_VALUE;

    private final FusedOperator op;
    private final Lstm lstm;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Optional<GateKernels> kernels;
    private final String reason;
    private final boolean isFloat;
    private final int batch;
    private final int steps;
    private final int inputs;
    private final int units;
    private final ElementFunction logistic;
    private final ElementFunction gateTanh;
    private final ElementFunction cellTanh;

    /**
     * Lays out tables.
     *
     * @param kernels the core's micro-kernels, if it has any
     */
    LstmLowering(FusedOperator op, Optional<SumKernels> kernels) {
        this.op = op;
        this.lstm = (Lstm) op.root().op();
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.kernels = kernels.flatMap(k -> GateKernels.of(op, k, tables, buffers));
        this.reason =
                StateReason.of(kernels, this.kernels.isPresent(), op.type().dtype());
        Shape data = op.rootTypes().get(0).shape();
        this.isFloat = op.type().dtype().isFloat();
        this.batch = lstm.batch(data);
        this.steps = lstm.steps(data);
        this.inputs = data.dim(2);
        this.units = op.type().shape().dim(2);
        if (isFloat) {
            this.logistic = UnaryFunctions.of(new Unary(Unary.Kind.SIGMOID), DType.FLOAT32);
            this.gateTanh = UnaryFunctions.of(new Unary(Unary.Kind.TANH), DType.FLOAT32);
            this.cellTanh = gateTanh;
        } else if (lstm.arithmetic() == Lstm.Arithmetic.LIBRARY) {
            this.logistic = LibraryGates.LOGISTIC;
            this.gateTanh = LibraryGates.tanh(Int16Functions.GATE_BITS);
            this.cellTanh = LibraryGates.tanh(lstm.cellIntegerBits());
        } else {
            Buffer table = TableFunctions.sigmoidTable(tables);
            this.logistic = function(TflSigmoid16.Kind.LOGISTIC, GATE_MULTIPLIER, 0, table);
            this.gateTanh = function(TflSigmoid16.Kind.TANH, GATE_MULTIPLIER, 0, table);
            this.cellTanh = function(TflSigmoid16.Kind.TANH, lstm.tanhMultiplier(), lstm.tanhShift(), table);
        }
    }

    private static ElementFunction function(TflSigmoid16.Kind kind, int multiplier, int shift, Buffer table) {
        return TableFunctions.sigmoid(new TflSigmoid16(kind, multiplier, shift), table);
    }

    LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        body.loop(
                "b",
                batch,
                (sequence, b) -> sequence.loop("t", steps, (step, t) -> {
                    Expr position = lstm.timeMajor() ? add(mul(t, batch), b) : add(mul(b, steps), t);
                    step(step, step.let("position", position), step.let("state", mul(b, units)));
                }));
        List<RowDependency> dependencies = op.inputs().stream()
                .<RowDependency>map(id -> new RowDependency.All(1))
                .toList();
        long macs = (long) batch * steps * units * Lstm.GATES * (inputs + units);
        return Nests.operator(
                        op,
                        buffers,
                        tables,
                        rows,
                        dependencies,
                        body.build(),
                        kernels.isPresent() ? "steps(kernels)" : "steps")
                .executing(macs)
                .because(reason);
    }

    private void step(BlockBuilder block, Expr position, Expr state) {
        Buffer hidden = buffers.argument(Lstm.HIDDEN);
        Expr from = block.let("from", mul(position, inputs));
        Expr to = block.let("to", mul(position, units));
        GateKernels.UnitBody body = (unit, u, gates) -> unit(unit, gates, add(state, u), add(to, u));
        kernels.ifPresentOrElse(
                k -> k.emit(block, buffers.argument(0), from, hidden, state, body),
                () -> loops(block, from, state, body));
        block.loop("u", units, (unit, u) -> unit.store(hidden, add(state, u), load(buffers.output(), add(to, u))));
    }

    private void loops(BlockBuilder block, Expr from, Expr state, GateKernels.UnitBody body) {
        GateSums ofData = new GateSums(op, tables, false);
        GateSums ofHidden = new GateSums(op, tables, true);
        block.loop("u", units, (unit, u) -> {
            List<Expr> data = ofData.emit(unit, u, buffers.argument(0), from);
            List<Expr> remembered = ofHidden.emit(unit, u, buffers.argument(Lstm.HIDDEN), state);
            body.emit(
                    unit,
                    u,
                    IntStream.range(0, Lstm.GATES)
                            .mapToObj(gate -> isFloat
                                    ? add(data.get(gate), remembered.get(gate))
                                    : ofHidden.added(data.get(gate), remembered.get(gate), gate))
                            .toList());
        });
    }

    /** The computation after the accumulators of a unit's gates, with the unit's places in the cell and in the output. */
    private void unit(BlockBuilder unit, List<Expr> gates, Expr place, Expr to) {
        Expr input = applied(unit, "input", logistic, gates.get(0));
        Expr forget = applied(unit, "forget", logistic, gates.get(1));
        Expr candidate = applied(unit, "candidate", gateTanh, gates.get(2));
        Expr output = applied(unit, "output_gate", logistic, gates.get(3));
        Expr cell = cell(unit, place, input, forget, candidate);
        Expr squashed = applied(unit, "squashed", cellTanh, cell);
        unit.store(buffers.output(), to, result(squashed, output));
    }

    private static Expr saturated(Expr value) {
        return new Expr.Call(Intrinsics.SATURATE_16, List.of(value));
    }

    /** A function of a value; its intermediate values are in a separate block. */
    private static Expr applied(BlockBuilder block, String name, ElementFunction function, Expr value) {
        Expr.Var result = block.mutable(name, value);
        BlockBuilder inner = new BlockBuilder();
        inner.assign(result, function.body().emit(inner, List.of(result)));
        block.add(inner.build());
        return result;
    }

    private Expr cell(BlockBuilder block, Expr index, Expr input, Expr forget, Expr candidate) {
        Buffer cell = buffers.argument(Lstm.CELL);
        boolean isLibrary = lstm.arithmetic() == Lstm.Arithmetic.LIBRARY;
        Expr kept = isLibrary
                ? LibraryGates.quotient(block.let("kept", mul(forget, load(cell, index))), Lstm.FUNCTION_BITS)
                : limited(product(forget, load(cell, index), 2 * Lstm.GATES), 2 * Lstm.GATES);
        Expr added = isLibrary
                ? LibraryGates.quotient(
                        block.let("added", mul(input, candidate)), Lstm.FUNCTION_BITS + lstm.cellIntegerBits())
                : limited(product(input, candidate, 2 * Lstm.GATES + 1), 2 * Lstm.GATES + 1);
        Expr updated = block.let("updated", isFloat ? add(kept, added) : saturated(add(kept, added)));
        Expr clipped = block.let("clipped", lstm.cellClip() > 0 ? clipped(block, updated) : updated);
        block.store(cell, index, clipped);
        return clipped;
    }

    /** A requantized product of int16, saturated if it can leave 16 bits. */
    private Expr limited(Expr product, int multiplier) {
        if (isFloat) {
            return product;
        }
        QuantizedMultiplier by = GateWeights.multiplier(op, multiplier);
        int least = FixedPoint.multiplyByQuantizedMultiplier((int) -PRODUCT_BOUND, by.multiplier(), by.shift());
        return by.shift() <= 0 && by.multiplier() >= 0 && least >= Short.MIN_VALUE ? product : saturated(product);
    }

    private Expr clipped(BlockBuilder block, Expr value) {
        float limit = lstm.cellClip();
        if (isFloat) {
            return max(block.let("below", min(value, imm(limit))), imm(-limit));
        }
        return limit >= Short.MAX_VALUE
                ? max(value, imm(-(long) limit))
                : new Expr.Call(Intrinsics.CLAMP, List.of(value, imm(-(long) limit), imm((long) limit)));
    }

    private Expr result(Expr squashed, Expr output) {
        Expr product = product(squashed, output, 2 * Lstm.GATES + 2);
        if (isFloat) {
            return product;
        }
        long most = RequantizeCalls.largest(GateWeights.multiplier(op, 2 * Lstm.GATES + 2), PRODUCT_BOUND);
        Expr value = RequantizeCalls.plus(product, lstm.hiddenZeroPoint(), most);
        return op.type().dtype() == DType.INT8
                ? new Expr.Call(Intrinsics.SATURATE_8, List.of(value))
                : saturated(value);
    }

    private Expr product(Expr a, Expr b, int multiplier) {
        Expr product = mul(a, b);
        return isFloat ? product : RequantizeCalls.of(product, GateWeights.multiplier(op, multiplier), PRODUCT_BOUND);
    }

    /** The functions and quotients of {@link Lstm.Arithmetic#LIBRARY}. */
    private static final class LibraryGates {
        static final ElementFunction LOGISTIC =
                ElementFunction.fitting((block, x) -> new Expr.Call(Intrinsics.LOGISTIC_SHORT, List.of(x.get(0))));

        private LibraryGates() {}

        /** The hyperbolic tangent of numbers with some integer bits. */
        static ElementFunction tanh(int integerBits) {
            return ElementFunction.fitting(
                    (block, x) -> new Expr.Call(Intrinsics.TANH_SHORT, List.of(x.get(0), imm(integerBits))));
        }

        /** A product of two int16 divided by a power of two; halves round away from zero. */
        static Expr quotient(Expr product, int bits) {
            Expr half = add(shr(product, imm(Integer.SIZE - 1)), 1L << (bits - 1));
            return shr(add(product, half), imm(bits));
        }
    }
}
