// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.arith.OnnxMean;
import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.OnnxAveragePool;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * ONNX Runtime's mean of bytes, without floats: sums of 64 bits are rounded to single precision at each step, and tables of the sums at which the
 * result steps replace the division, one for each number of elements under a window.
 */
final class OnnxPoolLowering {
    private final FusedOperator op;
    private final OnnxAveragePool pool;
    private final Window window;
    private final Shape in;
    private final Shape out;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Buffer data;
    private final int mantissa;
    private final Expr zeroPoint;

    OnnxPoolLowering(FusedOperator op) {
        this.op = op;
        this.pool = (OnnxAveragePool) op.root().op();
        this.window = pool.window();
        this.in = op.rootTypes().get(0).shape();
        this.out = op.type().shape();
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.data = buffers.argument(0);
        this.mantissa = SingleFactor.of(op.root().constant(1).real(0)).mantissa();
        this.zeroPoint = imm(op.root().constant(2).integer(0));
    }

    /** Lowers to loops over a range of rows. */
    LoweredOperator lower(Rows rows) {
        List<Integer> counts = new ArrayList<>(counts());
        OnnxMean mean = new OnnxMean(
                op.root().constant(1).real(0),
                op.root().constant(3).real(0),
                (int) op.root().constant(4).integer(0),
                pool.form());
        Buffer steps = tables.add(
                "steps",
                counts.stream().flatMapToLong(n -> LongStream.of(mean.steps(n))).toArray());
        UnaryOperator<Expr> first = firstStep(counts);
        BlockBuilder body = new BlockBuilder();
        body.loop(
                "n",
                out.dim(0),
                (batch, n) -> batch.loop("y", rows.firstLine(out), rows.endLine(out), 1, (row, y) -> {
                    TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(window, in));
                    row.loop("x", out.dim(2), (column, x) -> {
                        TapRange kx = TapRange.of(column, "x", x, TapRange.Axis.columns(window, in));
                        Expr pixel = add(mul(add(mul(n, out.dim(1)), rows.outputLine(y)), out.dim(2)), x);
                        column.loop("c", out.dim(3), (channel, c) -> {
                            Taps taps = (ty, tx) -> element(rows, n, ky, kx, c, ty, tx);
                            Expr sum = sum(channel, n, ky, kx, taps);
                            Expr found = StepSearch.of(
                                    channel, steps, first.apply(mul(ky.count(), kx.count())), OnnxMean.STEPS, sum);
                            channel.store(
                                    buffers.output(),
                                    add(mul(pixel, out.dim(3)), c),
                                    cast(DType.INT8, add(found, Byte.MIN_VALUE)));
                        });
                    });
                }));
        RowDependency dependency = Rows.count(out) == out.dim(1) && in.dim(0) == 1
                ? new RowDependency.Window(window.strideH(), window.padTop(), window.spanH(), in.dim(1))
                : new RowDependency.All(Rows.count(in));
        return Nests.operator(op, buffers, tables, rows, List.of(dependency), body.build(), "average(in single)");
    }

    /** The real number of an element under a window, in units of the scale's mantissa. */
    private interface Taps {
        Expr at(Expr ky, Expr kx);
    }

    private Expr element(Rows rows, Expr n, TapRange ky, TapRange kx, Expr c, Expr ty, Expr tx) {
        Expr row = rows.inputLine(0, add(ky.origin(), mul(ty, window.dilationH())));
        Expr column = add(kx.origin(), mul(tx, window.dilationW()));
        Expr position = add(mul(add(mul(n, in.dim(1)), row), in.dim(2)), column);
        Expr value = sub(load(data, add(mul(position, in.dim(3)), c)), zeroPoint);
        return call(SingleIntrinsics.MULTIPLE, value, imm(mantissa));
    }

    private Expr sum(BlockBuilder block, Expr n, TapRange ky, TapRange kx, Taps taps) {
        return switch (pool.order()) {
            case ROWS -> rows(block, ky, kx, taps);
            case COLUMNS -> columns(block, ky, kx, taps);
            case LANES -> lanes(block, taps);
            case GROUPS -> groups(block, taps);
            case ALIGNED -> aligned(block, n, taps);
        };
    }

    private static Expr rows(BlockBuilder block, TapRange ky, TapRange kx, Taps taps) {
        Expr.Var sum = block.mutable("sum", imm(0, DType.INT64));
        block.loop(
                "ky",
                ky.begin(),
                ky.end(),
                1,
                (row, i) -> row.loop("kx", kx.begin(), kx.end(), 1, (tap, j) -> add24(tap, sum, taps.at(i, j))));
        return sum;
    }

    private static Expr columns(BlockBuilder block, TapRange ky, TapRange kx, Taps taps) {
        Expr.Var sum = block.mutable("sum", imm(0, DType.INT64));
        block.loop("kx", kx.begin(), kx.end(), 1, (column, j) -> {
            Expr.Var part = column.mutable("part", imm(0, DType.INT64));
            column.loop("ky", ky.begin(), ky.end(), 1, (tap, i) -> add24(tap, part, taps.at(i, j)));
            add24(column, sum, part);
        });
        return sum;
    }

    private Expr groups(BlockBuilder block, Taps taps) {
        int count = window.kernelH();
        Expr.Var sum = block.mutable("sum", imm(0, DType.INT64));
        int begin = 0;
        for (int size = OnnxAveragePool.LANES; size > 0; size /= 2) {
            int taken = size;
            int end = begin + (count - begin) / size * size;
            block.loop("k", imm(begin), imm(end), size, (b, k) -> {
                Expr.Var part = b.mutable("part", taps.at(k, imm(0)));
                for (int i = 1; i < taken; i++) {
                    add24(b, part, taps.at(add(k, i), imm(0)));
                }
                add24(b, sum, part);
            });
            begin = end;
        }
        return sum;
    }

    private Expr lanes(BlockBuilder block, Taps taps) {
        int count = window.kernelH();
        Expr whole = imm(count / OnnxAveragePool.LANES * OnnxAveragePool.LANES);
        List<Expr.Var> lanes = lanes(block, OnnxAveragePool.LANES);
        sumLanes(block, lanes, imm(0), whole, taps);
        return withRest(block, inPairs(block, lanes), List.of(whole, imm(count)), taps);
    }

    private Expr aligned(BlockBuilder block, Expr n, Taps taps) {
        int count = window.kernelH();
        int some = OnnxAveragePool.LANES;
        Expr head = Exprs.bitAnd(sub(imm(0), mul(n, count)), imm(some - 1L));
        Expr begin = block.let("begin", Exprs.min(block.let("head", head), imm(count)));
        Expr left = block.let("left", sub(imm(count), begin));
        Expr end = block.let("end", add(begin, mul(Exprs.div(left, imm(some)), some)));
        Expr pairs = block.let("pairs", add(begin, mul(Exprs.div(left, imm(2L * some)), 2 * some)));
        List<Expr.Var> lanes = lanes(block, 2 * some);
        sumLanes(block, lanes, begin, pairs, taps);
        for (int i = 0; i < some; i++) {
            add24(block, lanes.get(i), lanes.get(i + some));
        }
        sumLanes(block, lanes.subList(0, some), pairs, end, taps);
        return withRest(block, inPairs(block, lanes), List.of(imm(0), begin, end, imm(count)), taps);
    }

    private static List<Expr.Var> lanes(BlockBuilder block, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> block.mutable("lane" + i, imm(0, DType.INT64)))
                .toList();
    }

    private static void sumLanes(BlockBuilder block, List<Expr.Var> lanes, Expr begin, Expr end, Taps taps) {
        block.loop("k", begin, end, lanes.size(), (b, k) -> {
            for (int i = 0; i < lanes.size(); i++) {
                add24(b, lanes.get(i), taps.at(add(k, i), imm(0)));
            }
        });
    }

    private static Expr.Var inPairs(BlockBuilder block, List<Expr.Var> lanes) {
        add24(block, lanes.get(0), lanes.get(2));
        add24(block, lanes.get(1), lanes.get(3));
        add24(block, lanes.get(0), lanes.get(1));
        return lanes.get(0);
    }

    /** Adds single elements in ranges, each given by its begin and its end. */
    private static Expr withRest(BlockBuilder block, Expr.Var sum, List<Expr> ranges, Taps taps) {
        for (int i = 0; i < ranges.size(); i += 2) {
            block.loop("k", ranges.get(i), ranges.get(i + 1), 1, (b, k) -> add24(b, sum, taps.at(k, imm(0))));
        }
        return sum;
    }

    private static void add24(BlockBuilder block, Expr.Var sum, Expr value) {
        block.assign(sum, call(SingleIntrinsics.SUM, sum, value));
    }

    /** Numbers of elements under the windows. */
    private SortedSet<Integer> counts() {
        SortedSet<Integer> counts = new TreeSet<>();
        for (int rows : taps(out.dim(1), TapRange.Axis.rows(window, in))) {
            for (int columns : taps(out.dim(2), TapRange.Axis.columns(window, in))) {
                counts.add(rows * columns);
            }
        }
        return counts;
    }

    private static SortedSet<Integer> taps(int positions, TapRange.Axis axis) {
        SortedSet<Integer> counts = new TreeSet<>();
        for (int i = 0; i < positions; i++) {
            int origin = i * axis.stride() - axis.padding();
            counts.add((int) IntStream.range(0, axis.taps())
                    .map(tap -> origin + tap * axis.dilation())
                    .filter(place -> place >= 0 && place < axis.size())
                    .count());
        }
        return counts;
    }

    /** Index of the first step, given the number of elements. */
    private UnaryOperator<Expr> firstStep(List<Integer> counts) {
        if (counts.size() == 1) {
            return count -> imm(0);
        }
        int[] firsts = new int[counts.get(counts.size() - 1) + 1];
        for (int i = 0; i < counts.size(); i++) {
            firsts[counts.get(i)] = i * OnnxMean.STEPS;
        }
        Buffer table = tables.add("first_steps", DType.INT32, firsts);
        return count -> load(table, count);
    }

    private static Expr call(Intrinsic intrinsic, Expr... arguments) {
        return new Expr.Call(intrinsic, List.of(arguments));
    }
}
