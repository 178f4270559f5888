// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.layer.OnnxAveragePool;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Emits the sum of the elements under a window, each step rounded to single precision.
 *
 * @param block receives the code
 * @param ky rows of the window
 * @param kx columns of the window
 * @param taps its elements, as int64 of one unit
 */
record SingleSums(BlockBuilder block, TapRange ky, TapRange kx, Taps taps) {
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
        block.loop(
                "ky",
                ky.begin(),
                ky.end(),
                1,
                (row, i) -> row.loop("kx", kx.begin(), kx.end(), 1, (tap, j) -> add24(tap, sum, taps.at(i, j))));
        return sum;
    }

    private Expr columns() {
        Expr.Var sum = block.mutable("sum", imm(0, DType.INT64));
        block.loop("kx", kx.begin(), kx.end(), 1, (column, j) -> {
            Expr.Var part = column.mutable("part", imm(0, DType.INT64));
            column.loop("ky", ky.begin(), ky.end(), 1, (tap, i) -> add24(tap, part, taps.at(i, j)));
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
            block.loop("k", ranges.get(i), ranges.get(i + 1), 1, (b, k) -> add24(b, sum, taps.at(k, imm(0))));
        }
        return sum;
    }

    private static void add24(BlockBuilder block, Expr.Var sum, Expr value) {
        block.assign(sum, new Expr.Call(SingleIntrinsics.SUM, List.of(sum, value)));
    }
}
