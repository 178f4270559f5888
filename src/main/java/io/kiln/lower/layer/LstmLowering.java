// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.max;
import static io.kiln.tir.Exprs.min;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.Int16Functions;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Int16Requantize;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RequantizeCalls;
import io.kiln.lower.RootLowering;
import io.kiln.lower.Rows;
import io.kiln.lower.SumKernels;
import io.kiln.lower.SumKernels.Result;
import io.kiln.lower.Tables;
import io.kiln.lower.element.ElementFunction;
import io.kiln.lower.element.TableFunctions;
import io.kiln.lower.element.UnaryFunctions;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * {@link Lstm}: step by step for each sequence, unit by unit; the hidden state gets a step's results after all units
 * are computed.
 */
final class LstmLowering extends RootLowering {
    /** Converts 12 fraction bits to steps of 1/12288. */
    private static final int GATE_MULTIPLIER = 3;

    /** Products of two int16, of which one is a function's result and never the least number. */
    private static final long PRODUCT_BOUND = (1L << 15) * Short.MAX_VALUE;

    private final Lstm lstm;
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
        super(op);
        this.lstm = (Lstm) op.root().op();
        this.kernels = kernels.flatMap(k -> GateKernels.of(op, k, buffers.tables(), buffers));
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
            Buffer table = TableFunctions.sigmoidTable(buffers.tables());
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
        long macs = (long) batch * steps * units * Lstm.GATES * (inputs + units);
        return Nests.single(buffers, rows, body.build(), kernels.isPresent() ? "steps(kernels)" : "steps")
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
        GateSums ofData = new GateSums(op, buffers.tables(), false);
        GateSums ofHidden = new GateSums(op, buffers.tables(), true);
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
        block.block(inner -> inner.assign(result, function.body().emit(inner, List.of(result))));
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

    /**
     * The accumulators of {@link Lstm}'s gates for some units together, by {@link SumKernels}: as words of scratch, which become int16
     * with 12 fraction bits, gate by gate, first those of the data, to which those of the hidden state are added.
     */
    private static final class GateKernels {
        /** Most units computed together, which bounds the scratch. */
        private static final int MOST_UNITS = 32;

        private final int units;
        private final int chunk;
        private final Part ofData;
        private final Part ofHidden;
        private final Buffer sums;
        private final Buffer gates;

        /** The kernel and tables for one kind of values: the data or the hidden state. */
        private record Part(SumKernels.Dots dots, GateWeights weights, Buffer table, SumKernels.Requantizer rescaler) {}

        /** The weights of one kind of values, and the kernel for them. */
        private record Kind(GateWeights weights, SumKernels.Dots dots) {
            static Optional<Kind> of(FusedOperator op, boolean recurrent, SumKernels kernels) {
                GateWeights weights = new GateWeights(op, recurrent);
                return weights.dots(kernels).map(dots -> new Kind(weights, dots));
            }
        }

        private GateKernels(SumKernels kernels, Kind data, Kind hidden, Tables tables, OperatorBuffers buffers) {
            this.units = data.weights.units();
            int chunks = (units + MOST_UNITS - 1) / MOST_UNITS;
            int step = Math.max(1, Math.max(data.dots.rows(), hidden.dots.rows()) / Lstm.GATES);
            this.chunk = ((units + chunks - 1) / chunks + step - 1) / step * step;
            this.ofData = part("input", data, kernels, Result.SHORT, tables);
            this.ofHidden = part("recurrent", hidden, kernels, Result.SHORT_ADDED, tables);
            this.sums = buffers.scratch(DType.INT32, (long) Lstm.GATES * chunk);
            this.gates = buffers.scratch(DType.INT16, (long) Lstm.GATES * chunk);
        }

        /** Packs the weights and reserves scratch, if the operator's types and constants suit the kernels. */
        static Optional<GateKernels> of(FusedOperator op, SumKernels kernels, Tables tables, OperatorBuffers buffers) {
            if (op.type().dtype().isFloat()) {
                return Optional.empty();
            }
            return Kind.of(op, false, kernels)
                    .flatMap(data -> Kind.of(op, true, kernels)
                            .map(hidden -> new GateKernels(kernels, data, hidden, tables, buffers)));
        }

        private Part part(String name, Kind kind, SumKernels kernels, Result result, Tables tables) {
            int rows = (units + chunk - 1) / chunk * chunk * Lstm.GATES;
            GateWeights weights = kind.weights;
            IntUnaryOperator begin = row -> unit(row) < units ? (int) weights.beginning(gate(row), unit(row), true) : 0;
            SumKernels.Weights byRow = (row, i) -> unit(row) < units ? weights.weight(gate(row), unit(row), i) : 0;
            return new Part(
                    kind.dots,
                    weights,
                    tables.add(name + "_weights", DType.INT8, kind.dots.pack(rows, weights.count(), byRow, begin)),
                    weights.rescaler(kernels, result, tables, name + "_by"));
        }

        /** Rows are by chunk, gate, unit. */
        private int gate(int row) {
            return row / chunk % Lstm.GATES;
        }

        private int unit(int row) {
            return row / (Lstm.GATES * chunk) * chunk + row % chunk;
        }

        /** The code for a unit, given its index and the accumulators of its gates. */
        interface UnitBody {
            void emit(BlockBuilder block, Expr unit, List<Expr> gates);
        }

        /** Emits all units for the values that begin at places of two buffers. */
        void emit(BlockBuilder block, Buffer data, Expr from, Buffer hidden, Expr state, UnitBody body) {
            block.loop("first", imm(0), imm(units), chunk, (some, first) -> {
                sums(some, ofData, first, data, from);
                sums(some, ofHidden, first, hidden, state);
                Expr count = units % chunk == 0 ? imm(chunk) : Exprs.min(Exprs.sub(imm(units), first), imm(chunk));
                some.loop("u", imm(0), some.let("count", count), (unit, u) -> {
                    List<Expr> values = IntStream.range(0, Lstm.GATES)
                            .mapToObj(gate -> load(gates, add(u, (long) gate * chunk)))
                            .map(Expr.class::cast)
                            .toList();
                    body.emit(unit, unit.let("unit", add(first, u)), values);
                });
            });
        }

        private void sums(BlockBuilder block, Part part, Expr first, Buffer values, Expr from) {
            int rows = Lstm.GATES * chunk;
            BlockBuilder code = new BlockBuilder();
            SumKernels.Block rowsOfChunk =
                    new SumKernels.Block(part.table, Exprs.mul(first, Lstm.GATES), rows, part.weights.count());
            part.dots.emit(code, rowsOfChunk, values, from, sums);
            part.rescaler.emit(code, chunk, sums, gates);
            block.add(code.build());
        }
    }

    /**
     * Weights times values for the four gates of one unit of {@link Lstm}: of the data with the biases, or of the hidden
     * state. The gates' weights are interleaved, so that a value is loaded once. The values' zero point is folded into the
     * initial values of the sums, unless they could then exceed 32 bits.
     */
    private static final class GateSums {
        private static final List<String> NAMES = List.of("input_gate", "forget_gate", "cell_gate", "output_gate");

        private final FusedOperator op;
        private final GateWeights gates;
        private final String kind;
        private final int count;
        private final int zeroPoint;
        private final boolean isFolded;
        private final long bound;
        private final DType sumType;
        private final Buffer weights;
        private final Optional<Buffer> beginnings;

        /**
         * Lays out the tables.
         *
         * @param recurrent whether the values are the hidden state
         */
        GateSums(FusedOperator op, Tables tables, boolean recurrent) {
            DType dtype = op.type().dtype();
            this.op = op;
            this.gates = new GateWeights(op, recurrent);
            this.kind = recurrent ? "recurrent" : "input";
            this.count = gates.count();
            this.zeroPoint = gates.zeroPoint();
            boolean folds = !dtype.isFloat() && gates.bound(true) <= Integer.MAX_VALUE;
            this.bound = dtype.isFloat() ? 0 : gates.bound(folds);
            this.isFolded = folds || zeroPoint == 0;
            boolean isWide = bound > Integer.MAX_VALUE;
            this.sumType = dtype.isFloat() ? dtype : isWide ? DType.INT64 : DType.INT32;
            DType weightType = gates.weights(0).type().dtype();
            this.weights =
                    tables.add(kind + "_weights", weightType, sideBySide(gates(gates::weights), weightType.bytes()));
            this.beginnings = recurrent && (zeroPoint == 0 || !folds)
                    ? Optional.empty()
                    : Optional.of(tables.add(kind + "_bias", sumType, beginnings(folds)));
        }

        private static <T> List<T> gates(IntFunction<T> ofGate) {
            return IntStream.range(0, Lstm.GATES).mapToObj(ofGate).toList();
        }

        private Bytes beginnings(boolean folds) {
            if (sumType.isFloat()) {
                return sideBySide(gates(gate -> op.root().constant(Lstm.BIASES + gate)), sumType.bytes());
            }
            return Bytes.ofIntegers(
                    gates.units() * Lstm.GATES,
                    sumType.bytes(),
                    i -> gates.beginning(i % Lstm.GATES, i / Lstm.GATES, folds));
        }

        /** Interleaves columns: the first elements of all, then the second ones, and so on. */
        private static Bytes sideBySide(List<Constant> columns, int width) {
            int elements = columns.get(0).elements();
            byte[] data = new byte[columns.size() * elements * width];
            for (int i = 0; i < elements; i++) {
                for (int c = 0; c < columns.size(); c++) {
                    columns.get(c).data().buffer().get(i * width, data, (i * columns.size() + c) * width, width);
                }
            }
            return Bytes.wrap(data);
        }

        /**
         * Emits the accumulation of a unit's gates.
         *
         * @param values of which {@code count} begin at {@code from}
         * @return one per gate: a float, or an integer with 12 fraction bits, saturated to int16 unless the operator's arithmetic first adds it
         */
        List<Expr> emit(BlockBuilder block, Expr unit, Buffer values, Expr from) {
            Expr at = block.let(kind + "_gates", mul(unit, Lstm.GATES));
            List<Expr.Var> sums = gates(gate -> block.mutable(
                    kind + "_" + NAMES.get(gate),
                    beginnings.<Expr>map(b -> load(b, add(at, gate))).orElseGet(this::zero)));
            block.loop("c", count, (inner, c) -> {
                Expr value = load(values, add(from, c));
                Expr x = inner.let("x", isFolded ? value : sub(value, imm(zeroPoint)));
                Expr w = inner.let("w", mul(add(mul(unit, count), c), Lstm.GATES));
                for (int gate = 0; gate < Lstm.GATES; gate++) {
                    Expr product = cast(sumType, mul(load(weights, add(w, gate)), x));
                    inner.assign(sums.get(gate), add(sums.get(gate), product));
                }
            });
            List<Expr> results = new ArrayList<>();
            for (int gate = 0; gate < Lstm.GATES; gate++) {
                results.add(sumType.isFloat() ? sums.get(gate) : rescaled(sums.get(gate), gate));
            }
            return results;
        }

        /** A gate's sum of data, an int16, plus that of the hidden state, saturated. */
        Expr added(Expr ofData, Expr ofHidden, int gate) {
            Expr sum = gates.areShort()
                    ? add(ofData, ofHidden)
                    : RequantizeCalls.plusShort(ofHidden, ofData, gates.multiplier(gate), bound);
            return new Expr.Call(Intrinsics.SATURATE_16, List.of(sum));
        }

        private Expr zero() {
            return sumType.isFloat() ? imm(0f) : imm(0, sumType);
        }

        private Expr rescaled(Expr sum, int gate) {
            QuantizedMultiplier by = gates.multiplier(gate);
            Expr scaled = op.type().dtype() == DType.INT8
                    ? RequantizeCalls.of(cast(DType.INT32, sum), by, bound)
                    : Int16Requantize.emit(sum, by, bound);
            return gates.areShort() ? new Expr.Call(Intrinsics.SATURATE_16, List.of(scaled)) : scaled;
        }
    }
}
