// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Int16Requantize;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.RequantizeCalls;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Weights times values for the four gates of one unit of {@link Lstm}: of the data with the biases, or of the hidden
 * state. The gates' weights are interleaved, so that a value is loaded once. The values' zero point is folded into the
 * initial values of the sums, unless they could then exceed 32 bits.
 */
final class GateSums {
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
        this.weights = tables.add(kind + "_weights", weightType, sideBySide(gates(gates::weights), weightType.bytes()));
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
        ByteBuffer data = ByteBuffer.allocate(gates.units() * Lstm.GATES * sumType.bytes())
                .order(ByteOrder.LITTLE_ENDIAN);
        for (int unit = 0; unit < gates.units(); unit++) {
            for (int gate = 0; gate < Lstm.GATES; gate++) {
                long first = gates.beginning(gate, unit, folds);
                if (sumType == DType.INT64) {
                    data.putLong(first);
                } else {
                    data.putInt((int) first);
                }
            }
        }
        return Bytes.wrap(data.array());
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
