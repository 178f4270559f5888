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
import io.kiln.ir.op.layer.OnnxLayers.OnnxAveragePool;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.StepSearch;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Lowers ONNX Runtime's mean of bytes, without floats. The exact mean decides; where it is so close to a half that the roundings of
 * floats do, sums of 64 bits are rounded to single precision at each step, and a table of the sums at which the result steps
 * replaces the division, one for each number of elements under a window.
 */
final class OnnxPoolLowering {
    private final OnnxAveragePool pool;
    private final Window window;
    private final Shape in;
    private final Shape out;
    private final OperatorBuffers buffers;
    private final Buffer data;
    private final OnnxMean mean;
    private final int mantissa;
    private final Expr zeroPoint;

    OnnxPoolLowering(FusedOperator op) {
        this.pool = (OnnxAveragePool) op.root().op();
        this.window = pool.window();
        this.in = op.rootTypes().get(0).shape();
        this.out = op.type().shape();
        this.buffers = new OperatorBuffers(op);
        this.data = buffers.argument(0);
        this.mean = new OnnxMean(
                op.root().constant(1).real(0),
                op.root().constant(3).real(0),
                (int) op.root().constant(4).integer(0),
                pool.form());
        this.mantissa = SingleFactor.of(op.root().constant(1).real(0)).mantissa();
        this.zeroPoint = imm(op.root().constant(2).integer(0));
    }

    /** Lowers to loops over a range of rows. */
    LoweredOperator lower(Rows rows) {
        List<Integer> counts = new ArrayList<>(counts());
        Buffer steps = buffers.tables()
                .add(
                        "steps",
                        counts.stream()
                                .flatMapToLong(n -> LongStream.of(mean.steps(n)))
                                .toArray());
        UnaryOperator<Expr> index = index(counts);
        UnaryOperator<Expr> factor = perCount("factors", counts, OnnxMean.Exact::factor);
        UnaryOperator<Expr> doubt = perCount("doubts", counts, OnnxMean.Exact::doubt);
        BlockBuilder body = new BlockBuilder();
        rows.eachLine(body, out, (row, n, y) -> {
            TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(window, in));
            row.loop("x", out.dim(2), (column, x) -> {
                TapRange kx = TapRange.of(column, "x", x, TapRange.Axis.columns(window, in));
                Expr which = column.let("which", index.apply(mul(ky.count(), kx.count())));
                Expr pixel = add(mul(add(mul(n, out.dim(1)), rows.outputLine(y)), out.dim(2)), x);
                column.loop("c", out.dim(3), (channel, c) -> {
                    SingleSums.Taps taps = (ty, tx) -> byteAt(rows, n, ky, kx, c, ty, tx);
                    Expr exact = exact(channel, ky, kx, taps, factor.apply(which));
                    Expr.Var result = channel.mutable("result", rounded(channel, exact));
                    channel.ifThen(isDoubtful(exact, doubt.apply(which)), in -> {
                        Expr sum = new SingleSums(in, ky, kx, reals(taps)).of(pool.order(), n, window.kernelH());
                        Expr first = mul(which, OnnxMean.STEPS);
                        Expr found = StepSearch.of(in, steps, first, OnnxMean.STEPS, sum);
                        in.assign(result, add(found, Byte.MIN_VALUE));
                    });
                    channel.store(buffers.output(), add(mul(pixel, out.dim(3)), c), cast(DType.INT8, result));
                });
            });
        });
        RowDependency dependency = Rows.count(out) == out.dim(1) && in.dim(0) == 1
                ? new RowDependency.Window(window.strideH(), window.padTop(), window.spanH(), in.dim(1))
                : new RowDependency.All(Rows.count(in));
        return Nests.operator(buffers, rows, List.of(dependency), body.build(), "average(in single)");
    }

    private Expr byteAt(Rows rows, Expr n, TapRange ky, TapRange kx, Expr c, Expr ty, Expr tx) {
        Expr row = rows.inputLine(0, add(ky.origin(), mul(ty, window.dilationH())));
        Expr column = add(kx.origin(), mul(tx, window.dilationW()));
        Expr position = add(mul(add(mul(n, in.dim(1)), row), in.dim(2)), column);
        return sub(load(data, add(mul(position, in.dim(3)), c)), zeroPoint);
    }

    /** The mean plus one half and the zero point, in fixed point. */
    private Expr exact(BlockBuilder block, TapRange ky, TapRange kx, SingleSums.Taps taps, Expr factor) {
        Expr.Var total = block.mutable("total", imm(0));
        ky.loop(block, "ky", (row, i) -> kx.loop(row, "kx", (tap, j) -> tap.assign(total, add(total, taps.at(i, j)))));
        long half = 1L << (mean.fractionBits() - 1);
        long offset = ((long) mean.zeroPoint() << mean.fractionBits()) + half;
        return block.let("exact", add(mul(cast(DType.INT64, total), factor), imm(offset, DType.INT64)));
    }

    private Expr rounded(BlockBuilder block, Expr exact) {
        Expr whole = block.let("whole", Exprs.shr(exact, imm(mean.fractionBits())));
        Expr above = block.let("above", Exprs.max(whole, imm(Byte.MIN_VALUE, DType.INT64)));
        return cast(DType.INT32, Exprs.min(above, imm(Byte.MAX_VALUE, DType.INT64)));
    }

    private Expr isDoubtful(Expr exact, Expr doubt) {
        Expr fraction = Exprs.bitAnd(add(exact, doubt), imm((1L << mean.fractionBits()) - 1, DType.INT64));
        return Exprs.le(fraction, mul(doubt, imm(2, DType.INT64)));
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

    /** The index of a number of elements among all numbers that occur. */
    private UnaryOperator<Expr> index(List<Integer> counts) {
        if (counts.size() == 1) {
            return count -> imm(0);
        }
        int[] indices = new int[counts.get(counts.size() - 1) + 1];
        for (int i = 0; i < counts.size(); i++) {
            indices[counts.get(i)] = i;
        }
        Buffer table = buffers.tables().add("indices", DType.INT32, indices);
        return count -> load(table, count);
    }

    /** A constant for each number of elements that occurs, read by that number's index. */
    private UnaryOperator<Expr> perCount(String name, List<Integer> counts, ToLongFunction<OnnxMean.Exact> constant) {
        long[] values = counts.stream()
                .mapToLong(count -> constant.applyAsLong(mean.exact(count)))
                .toArray();
        if (values.length == 1) {
            return which -> imm(values[0], DType.INT64);
        }
        Buffer table = buffers.tables().add(name, values);
        return which -> load(table, which);
    }

    /** The real numbers of bytes, in units of the scale's mantissa. */
    private SingleSums.Taps reals(SingleSums.Taps bytes) {
        return (ky, kx) -> new Expr.Call(SingleIntrinsics.MULTIPLE, List.of(bytes.at(ky, kx), imm(mantissa)));
    }

    /**
     * Emits the sum of the elements under a window, each step rounded to single precision.
     *
     * @param block receives the code
     * @param ky rows of the window
     * @param kx columns of the window
     * @param taps its elements, as int64 of one unit
     */
    private record SingleSums(BlockBuilder block, TapRange ky, TapRange kx, Taps taps) {
        /** An element under a window. */
        interface Taps {
            /** The element in a row and a column of the window. */
            Expr at(Expr ky, Expr kx);
        }

        /**
         * Emits the sum of the window's elements in a given order of additions.
         *
         * @param image the number of the image, of which the window is the whole in some orders
         * @param count the window's rows
         */
        Expr of(OnnxAveragePool.Order order, Expr image, int count) {
            return switch (order) {
                case ROWS -> rows();
                case COLUMNS -> columns();
                case LANES -> lanes(count);
                case GROUPS -> groups(count);
                case ALIGNED -> aligned(image, count);
            };
        }

        private Expr rows() {
            Expr.Var sum = block.mutable("sum", imm(0, DType.INT64));
            ky.loop(block, "ky", (row, i) -> kx.loop(row, "kx", (tap, j) -> add24(tap, sum, taps.at(i, j))));
            return sum;
        }

        private Expr columns() {
            Expr.Var sum = block.mutable("sum", imm(0, DType.INT64));
            kx.loop(block, "kx", (column, j) -> {
                Expr.Var part = column.mutable("part", imm(0, DType.INT64));
                ky.loop(column, "ky", (tap, i) -> add24(tap, part, taps.at(i, j)));
                add24(column, sum, part);
            });
            return sum;
        }

        private Expr groups(int count) {
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

        private Expr lanes(int count) {
            Expr whole = imm((long) (count / OnnxAveragePool.LANES) * OnnxAveragePool.LANES);
            List<Expr.Var> lanes = variables(OnnxAveragePool.LANES);
            sumLanes(lanes, imm(0), whole);
            return withRest(inPairs(lanes), List.of(whole, imm(count)));
        }

        private Expr aligned(Expr image, int count) {
            int some = OnnxAveragePool.LANES;
            Expr head = Exprs.bitAnd(sub(imm(0), mul(image, count)), imm(some - 1L));
            Expr begin = block.let("begin", Exprs.min(block.let("head", head), imm(count)));
            Expr left = block.let("left", sub(imm(count), begin));
            Expr end = block.let("end", add(begin, mul(Exprs.div(left, imm(some)), some)));
            Expr pairs = block.let("pairs", add(begin, mul(Exprs.div(left, imm(2L * some)), 2L * some)));
            List<Expr.Var> lanes = variables(2 * some);
            sumLanes(lanes, begin, pairs);
            for (int i = 0; i < some; i++) {
                add24(block, lanes.get(i), lanes.get(i + some));
            }
            sumLanes(lanes.subList(0, some), pairs, end);
            return withRest(inPairs(lanes), List.of(imm(0), begin, end, imm(count)));
        }

        private List<Expr.Var> variables(int count) {
            return IntStream.range(0, count)
                    .mapToObj(i -> block.mutable("lane" + i, imm(0, DType.INT64)))
                    .toList();
        }

        private void sumLanes(List<Expr.Var> lanes, Expr begin, Expr end) {
            block.loop("k", begin, end, lanes.size(), (b, k) -> {
                for (int i = 0; i < lanes.size(); i++) {
                    add24(b, lanes.get(i), taps.at(add(k, i), imm(0)));
                }
            });
        }

        private Expr.Var inPairs(List<Expr.Var> lanes) {
            add24(block, lanes.get(0), lanes.get(2));
            add24(block, lanes.get(1), lanes.get(3));
            add24(block, lanes.get(0), lanes.get(1));
            return lanes.get(0);
        }

        /** Adds single elements in ranges, each given by its begin and its end. */
        private Expr withRest(Expr.Var sum, List<Expr> ranges) {
            for (int i = 0; i < ranges.size(); i += 2) {
                block.loop("k", ranges.get(i), ranges.get(i + 1), (b, k) -> add24(b, sum, taps.at(k, imm(0))));
            }
            return sum;
        }

        private static void add24(BlockBuilder block, Expr.Var sum, Expr value) {
            block.assign(sum, new Expr.Call(SingleIntrinsics.SUM, List.of(sum, value)));
        }
    }
}
