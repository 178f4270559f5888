// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rescale;
import io.kiln.lower.RowDependency;
import io.kiln.lower.RowDots;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** A filter with state: the state is shifted, gets the new features, and is weighed by age. */
public final class SvdfLowering {
    /** With more inputs a sum of bytes could exceed 32 bits. */
    private static final int MOST_INPUTS = 1 << 15;

    private final FusedOperator op;
    private final Svdf svdf;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Buffer state;
    private final int filters;
    private final int inputs;
    private final int memory;
    private final int batch;
    private final boolean isFloat;
    private final Optional<RowDots> dots;

    /**
     * Reads the operator.
     *
     * @param dots for int8 data, if the core has a micro-kernel for it
     */
    public SvdfLowering(FusedOperator op, Optional<RowDots> dots) {
        this.op = op;
        this.svdf = (Svdf) op.root().op();
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.state = buffers.argument(Svdf.STATE);
        this.filters = op.rootTypes().get(1).shape().dim(0);
        this.inputs = op.rootTypes().get(1).shape().dim(1);
        this.memory = op.rootTypes().get(2).shape().dim(1);
        this.batch = op.type().shape().dim(0);
        this.isFloat = op.type().dtype().isFloat();
        this.dots = dots.filter(d -> !isFloat
                && op.root().args().get(1) instanceof Constant
                && filters % RowDots.ROWS == 0
                && inputs <= MOST_INPUTS);
    }

    public LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        long elements = (long) batch * filters * memory;
        body.loop("i", elements - 1, (b, i) -> b.store(state, i, load(state, add(i, 1))));
        dots.ifPresentOrElse(d -> dotProducts(body, d), () -> features(body));
        results(body);
        List<RowDependency> dependencies = op.inputs().stream()
                .<RowDependency>map(id -> new RowDependency.All(1))
                .toList();
        long macs = (long) batch * filters * (inputs + memory);
        return Nests.operator(
                        op, buffers, tables, rows, dependencies, body.build(), dots.isPresent() ? "svdf(dots)" : "svdf")
                .executing(macs);
    }

    private Expr zero() {
        return isFloat ? imm(0.0f) : imm(0);
    }

    private void features(BlockBuilder body) {
        Buffer data = buffers.argument(0);
        Buffer weights = buffers.argument(1);
        body.loop(
                "b",
                batch,
                (outer, b) -> outer.loop("f", filters, (block, f) -> {
                    Expr.Var sum = block.mutable("feature", zero());
                    block.loop("c", inputs, (inner, c) -> {
                        Expr value = load(data, add(mul(b, inputs), c));
                        Expr centred = isFloat ? value : sub(value, imm(svdf.inputZeroPoint()));
                        inner.assign(sum, add(sum, mul(load(weights, add(mul(f, inputs), c)), centred)));
                    });
                    Expr last = add(mul(add(mul(b, filters), f), memory), memory - 1L);
                    block.store(
                            state,
                            last,
                            isFloat ? sum : limited(block, sum, Svdf.STATE + 1, svdf.stateZeroPoint(), state));
                }));
    }

    /**
     * The features of as many filters as a micro-kernel processes; the zero point is in the initial values of the sums.
     */
    private void dotProducts(BlockBuilder body, RowDots by) {
        Constant times = op.root().constant(1);
        Buffer weights = tables.add(
                "feature_weights", DType.INT8, by.pack(filters, inputs, (f, i) -> times.integer(f * inputs + i)));
        int[] first = IntStream.range(0, filters)
                .map(f -> -svdf.inputZeroPoint()
                        * (int) IntStream.range(0, inputs)
                                .mapToLong(i -> times.integer(f * inputs + i))
                                .sum())
                .toArray();
        Buffer begins = tables.add("feature_begin", DType.INT32, first);
        Buffer sums = buffers.scratch(DType.INT32, RowDots.ROWS);
        body.loop(
                "b",
                batch,
                (outer, b) -> outer.loop("g", filters / RowDots.ROWS, (block, g) -> {
                    Expr f = block.let("f", mul(g, RowDots.ROWS));
                    for (int row = 0; row < RowDots.ROWS; row++) {
                        block.store(sums, imm(row), load(begins, add(f, row)));
                    }
                    RowDots.Vector data = new RowDots.Vector(buffers.argument(0), mul(b, inputs), inputs);
                    by.emit(block, "feature", weights, g, data, sums);
                    block.loop("row", RowDots.ROWS, (each, row) -> {
                        Expr sum = load(sums, row);
                        Expr last = add(mul(add(add(mul(b, filters), f), row), memory), memory - 1L);
                        each.store(state, last, limited(each, sum, Svdf.STATE + 1, svdf.stateZeroPoint(), state));
                    });
                }));
    }

    private void results(BlockBuilder body) {
        int units = filters / svdf.rank();
        int span = svdf.rank() * memory;
        Buffer times = buffers.argument(2);
        Buffer bias = buffers.argument(3);
        Epilogue epilogue = new Epilogue(op, Integer.MAX_VALUE, tables);
        body.loop(
                "b",
                batch,
                (outer, b) -> outer.loop("u", units, (block, u) -> {
                    Expr.Var sum = block.mutable("sum", wrapping(load(bias, u)));
                    Expr unit = block.let("unit", add(mul(b, units), u));
                    block.loop("k", span, (inner, k) -> {
                        Expr value = load(state, add(mul(unit, span), k));
                        Expr centred = isFloat ? value : sub(value, imm(svdf.stateZeroPoint()));
                        Expr product = mul(wrapping(load(times, add(mul(u, span), k))), wrapping(centred));
                        inner.assign(sum, add(sum, product));
                    });
                    Expr result = isFloat
                            ? sum
                            : limited(
                                    block,
                                    Exprs.cast(DType.INT32, sum),
                                    Svdf.STATE + 3,
                                    svdf.outputZeroPoint(),
                                    buffers.output());
                    epilogue.store(block, "_out", result, imm(0), buffers.output(), unit);
                }));
    }

    /** Sums of products of two int16 wrap around in the reference kernel; in C only unsigned numbers may. */
    private Expr wrapping(Expr value) {
        return state.dtype() == DType.INT16 ? Exprs.cast(DType.UINT32, value) : value;
    }

    private Expr limited(BlockBuilder block, Expr sum, int multiplier, int zeroPoint, Buffer to) {
        QuantizedMultiplier by = new QuantizedMultiplier(scalar(multiplier), scalar(multiplier + 1));
        Expr rescaled = new Expr.Call(Intrinsics.RESCALE_ANY, List.of(sum, imm(by.multiplier()), imm(by.shift())));
        Expr shifted = Rescale.plus(rescaled, zeroPoint, Rescale.largest(by, Integer.MAX_VALUE));
        DType dtype = to.dtype();
        return block.let(
                "limited", new Expr.Call(Intrinsics.CLAMP, List.of(shifted, imm(dtype.min()), imm(dtype.max()))));
    }

    private int scalar(int argument) {
        return (int) op.root().constant(argument).integer(0);
    }
}
