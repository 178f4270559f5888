// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;

import io.kiln.base.DType;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.SumKernels;
import io.kiln.lower.SumKernels.Result;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * The accumulators of {@link Lstm}'s gates for some units together, by {@link SumKernels}: as words of scratch, which become int16
 * with 12 fraction bits, gate by gate, first those of the data, to which those of the hidden state are added.
 */
final class GateKernels {
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
            some.loop("u", imm(0), some.let("count", count), 1, (unit, u) -> {
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
