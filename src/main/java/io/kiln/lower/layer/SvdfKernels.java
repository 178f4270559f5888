// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.SumKernels;
import io.kiln.lower.SumKernels.Group;
import io.kiln.lower.SumKernels.Result;
import io.kiln.lower.SumKernels.Sums;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A step of {@link Svdf} with int8 data and an int16 state by {@link SumKernels}: all features as words of scratch, which
 * become the newest row of the ring; then the sums down the ring's columns, which become the results.
 */
final class SvdfKernels {
    private final FusedOperator op;
    private final Svdf svdf;
    private final SumKernels kernels;
    private final SumKernels.Dots dots;
    private final SvdfShape shape;
    private final QuantizedMultiplier feature;
    private final QuantizedMultiplier result;
    private final long bound;

    private SvdfKernels(FusedOperator op, SumKernels kernels, SumKernels.Dots dots, long bound) {
        this.op = op;
        this.svdf = (Svdf) op.root().op();
        this.kernels = kernels;
        this.dots = dots;
        this.shape = SvdfShape.of(op);
        this.feature = shape.multiplier(op, Svdf.FEATURE);
        this.result = shape.multiplier(op, Svdf.RESULT);
        this.bound = bound;
    }

    /** The kernels, if the operator's types and constants suit them. */
    static Optional<SvdfKernels> of(FusedOperator op, SumKernels kernels) {
        Svdf svdf = (Svdf) op.root().op();
        SvdfShape shape = SvdfShape.of(op);
        boolean suits = op.type().dtype() == DType.INT8
                && op.rootTypes().get(Svdf.STATE).dtype() == DType.INT16
                && op.clip().isEmpty()
                && op.requantization().isEmpty()
                && svdf.stateZeroPoint() == 0
                && kernels.takesColumns(shape.units())
                && SumKernels.takes(shape.multiplier(op, Svdf.RESULT), 0);
        if (!suits) {
            return Optional.empty();
        }
        Constant weights = op.root().constant(1);
        long bound = IntStream.range(0, shape.filters())
                .mapToLong(f -> bound(weights, svdf, f, shape.inputs()))
                .max()
                .orElse(0);
        long least = IntStream.range(0, weights.elements())
                .mapToLong(weights::integer)
                .min()
                .orElse(0);
        return kernels.dots(bound, least)
                .filter(dots -> SumKernels.takes(shape.multiplier(op, Svdf.FEATURE), bound))
                .map(dots -> new SvdfKernels(op, kernels, dots, bound));
    }

    /** Largest magnitude of a filter's accumulator, with the zero point folded. */
    private static long bound(Constant weights, Svdf svdf, int filter, int inputs) {
        long sum = 0;
        long magnitude = 0;
        for (int i = filter * inputs; i < (filter + 1) * inputs; i++) {
            sum += weights.integer(i);
            magnitude += Math.abs(weights.integer(i));
        }
        return Math.abs(svdf.inputZeroPoint() * sum) - DType.INT8.min() * magnitude;
    }

    private long weight(int filter, int input) {
        return op.root().constant(1).integer(filter * shape.inputs() + input);
    }

    /** The zero point times the weights: the initial value of a filter's accumulator. */
    private long begin(int filter) {
        return -svdf.inputZeroPoint()
                * IntStream.range(0, shape.inputs())
                        .mapToLong(i -> weight(filter, i))
                        .sum();
    }

    private int begins(int place) {
        return place < shape.filters() ? (int) begin(shape.filter(place)) : 0;
    }

    void emit(BlockBuilder body, Expr slot, Tables tables, OperatorBuffers buffers) {
        int padded = (shape.filters() + dots.rows() - 1) / dots.rows() * dots.rows();
        int columns = kernels.paddedColumns(shape.units());
        Buffer sums = buffers.scratch(DType.INT32, Math.max(padded, columns));
        Buffer state = buffers.argument(Svdf.STATE);
        SumKernels.Block rows = new SumKernels.Block(
                tables.add("features", DType.INT8, dots.pack(padded, shape.inputs(), this::packed, this::begins)),
                imm(0),
                padded,
                shape.inputs());
        SumKernels.Ring ring = ring(tables, columns, oldest(body, slot));
        SumKernels.Requantizer features =
                kernels.rescaler(new Group(Sums.DOTS, Result.SHORT, List.of(feature), bound, 0), tables, "feature_by");
        SumKernels.Requantizer results = kernels.rescaler(
                new Group(Sums.WORDS, Result.BYTE, List.of(result), ofColumns(), svdf.outputZeroPoint()),
                tables,
                "result_by");
        body.loop("b", shape.batch(), (block, b) -> {
            dots.emit(block, rows, buffers.argument(0), mul(b, shape.inputs()), sums);
            Expr first = block.let("first", mul(b, (long) shape.memory() * shape.filters()));
            Expr newest = add(first, mul(slot, shape.filters()));
            features.emit(block, shape.filters(), sums, block.mutableView("newest", state, newest));
            kernels.columns(block, ring, block.view("ring", state, first), sums);
            results.emit(
                    block, shape.units(), sums, block.mutableView("results", buffers.output(), mul(b, shape.units())));
        });
    }

    /** The ring's oldest row, which follows the newest slot. */
    private Expr oldest(BlockBuilder body, Expr slot) {
        Expr next = add(slot, 1);
        return body.let("oldest", mul(select(Exprs.lt(next, imm(shape.memory())), next, imm(0)), shape.rank()));
    }

    private long packed(int place, int input) {
        return place < shape.filters() ? weight(shape.filter(place), input) : 0;
    }

    private SumKernels.Ring ring(Tables tables, int padded, Expr oldest) {
        Constant times = op.root().constant(2);
        Constant bias = op.root().constant(3);
        int rows = shape.memory() * shape.rank();
        return new SumKernels.Ring(
                tables.add("times", DType.INT16, kernels.packColumns(rows, shape.units(), (row, unit) -> {
                    int filter = unit * shape.rank() + row % shape.rank();
                    return times.integer(filter * shape.memory() + row / shape.rank());
                })),
                tables.add(
                        "bias",
                        DType.INT32,
                        IntStream.range(0, padded)
                                .map(unit -> unit < shape.units() ? (int) bias.integer(unit) : 0)
                                .toArray()),
                shape.units(),
                oldest,
                rows);
    }

    /** Largest magnitude of a unit's accumulator over the ring. */
    private long ofColumns() {
        Constant times = op.root().constant(2);
        int width = shape.rank() * shape.memory();
        long most = 0;
        for (int unit = 0; unit < shape.units(); unit++) {
            long magnitude = 0;
            for (int i = unit * width; i < (unit + 1) * width; i++) {
                magnitude += Math.abs(times.integer(i));
            }
            most = Math.max(most, Math.abs(op.root().constant(3).integer(unit)) - DType.INT16.min() * magnitude);
        }
        return Math.min(most, 1L << (Integer.SIZE - 1));
    }
}
