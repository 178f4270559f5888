// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.type.Shape;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.RootLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Average and maximum pools, NHWC: a loop over channels around the taps inside the input. */
public final class PoolLowering extends RootLowering {
    private final Window window;
    private final boolean average;
    private final DType sumType;
    private final Rounding rounding;
    private final Shape in;
    private final Shape out;
    private final Epilogue epilogue;

    /**
     * Prepares the lowering.
     *
     * @param mean rounding of a mean of integers; empty for the maximum
     */
    PoolLowering(FusedOperator op, Window window, Optional<Rounding> mean) {
        super(op);
        this.average = mean.isPresent();
        this.rounding = mean.orElse(Rounding.TFLITE);
        this.sumType = sumType(op);
        this.window = window;
        this.in = op.rootTypes().get(0).shape();
        this.out = op.type().shape();
        this.epilogue = new Epilogue(op, 255, buffers.tables());
    }

    private static DType sumType(FusedOperator op) {
        boolean isWide = op.root().op() instanceof AvgPool2d pool
                && pool.isWide(op.rootTypes().get(0));
        return op.type().dtype().isFloat() ? DType.FLOAT32 : isWide ? DType.INT64 : DType.INT32;
    }

    /**
     * Input rows that a pool can process one after another, keeping sums or maxima in scratch, so that its input need
     * not exist as a whole: those of a window that covers the height and produces one row.
     *
     * @return empty for any other pool
     */
    public static OptionalInt accumulatedRows(FusedOperator op) {
        Optional<Window> window = op.root().op() instanceof Pool2d pool ? Optional.of(pool.window()) : Optional.empty();
        Shape in = op.rootTypes().get(0).shape();
        boolean suits = window.filter(w -> w.padTop() == 0 && w.dilationH() == 1 && w.kernelH() <= in.dim(1))
                        .isPresent()
                && in.dim(0) == 1
                && op.type().shape().dim(1) == 1;
        return suits && in.dim(1) > 1 ? OptionalInt.of(window.orElseThrow().kernelH()) : OptionalInt.empty();
    }

    /** Lowers to a function that is called for rows of the output, or for each range of input rows in order. */
    LoweredOperator of(Rows rows) {
        return rows.accumulate() ? accumulate(rows) : lower(rows);
    }

    /**
     * Lowers to a function that is called for each range of input rows in order.
     *
     * <pre>
     * scratch: a sum or maximum for each element of the output, alive from the first call to the last
     * </pre>
     *
     * @param rows from {@link Rows#accumulating}
     */
    private LoweredOperator accumulate(Rows rows) {
        Buffer state = buffers.scratch(sumType, out.elements());
        BlockBuilder body = new BlockBuilder();
        body.loop(
                "y",
                rows.begin(),
                rows.end(),
                (row, y) -> row.loop("x", out.dim(2), (column, x) -> {
                    TapRange kx = TapRange.of(column, "x", x, TapRange.Axis.columns(window, in));
                    Expr line = mul(rows.inputLine(0, y), in.dim(2));
                    column.loop("c", out.dim(3), (channel, c) -> {
                        Expr element = add(mul(x, out.dim(3)), c);
                        Expr before = Exprs.select(Exprs.equal(y, imm(0)), start(), load(state, element));
                        Expr.Var acc = channel.mutable("acc", before);
                        kx.loop(channel, "kx", (tap, j) -> {
                            Expr position = add(line, add(kx.origin(), mul(j, window.dilationW())));
                            take(tap, acc, load(buffers.argument(0), add(mul(position, in.dim(3)), c)));
                        });
                        channel.store(state, element, acc);
                    });
                }));
        body.ifThen(Exprs.equal(rows.end(), imm(window.kernelH())), last -> storeAccumulated(last, state));
        return Nests.operator(
                buffers,
                rows,
                List.of(RowDependency.same(in.dim(1))),
                body.build(),
                average ? "average(by input rows)" : "maximum(by input rows)");
    }

    private void storeAccumulated(BlockBuilder last, Buffer state) {
        last.loop("x", out.dim(2), (column, x) -> {
            TapRange kx = TapRange.of(column, "x", x, TapRange.Axis.columns(window, in));
            Expr taps = mul(imm(window.kernelH()), kx.count());
            column.loop("c", out.dim(3), (channel, c) -> {
                Expr element = add(mul(x, out.dim(3)), c);
                Expr acc = channel.let("acc", load(state, element));
                Expr result = average ? mean(channel, acc, taps) : acc;
                epilogue.store(channel, "_out", result, c, buffers.output(), element);
            });
        });
    }

    private void take(BlockBuilder block, Expr.Var acc, Expr value) {
        block.assign(acc, average ? add(acc, widened(value)) : Exprs.max(block.let("value", value), acc));
    }

    private LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        rows.eachLine(body, out, (row, n, y) -> {
            TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(window, in));
            row.loop("x", out.dim(2), (column, x) -> {
                TapRange kx = TapRange.of(column, "x", x, TapRange.Axis.columns(window, in));
                Expr pixel = add(mul(add(mul(n, out.dim(1)), rows.outputLine(y)), out.dim(2)), x);
                column.loop(
                        "c",
                        out.dim(3),
                        (channel, c) -> pixel(channel, rows, n, ky, kx, c, add(mul(pixel, out.dim(3)), c)));
            });
        });
        RowDependency dependency = Rows.count(out) == out.dim(1) && in.dim(0) == 1
                ? new RowDependency.Window(window.strideH(), window.padTop(), window.spanH(), in.dim(1))
                : new RowDependency.All(Rows.count(in));
        return Nests.operator(buffers, rows, List.of(dependency), body.build(), average ? "average" : "maximum");
    }

    private void pixel(BlockBuilder block, Rows rows, Expr n, TapRange ky, TapRange kx, Expr c, Expr index) {
        Expr.Var acc = block.mutable("acc", start());
        ky.loop(
                block,
                "ky",
                (rowBlock, k) -> kx.loop(rowBlock, "kx", (tap, j) -> {
                    Expr row = rows.inputLine(0, add(ky.origin(), mul(k, window.dilationH())));
                    Expr column = add(kx.origin(), mul(j, window.dilationW()));
                    Expr position = add(mul(add(mul(n, in.dim(1)), row), in.dim(2)), column);
                    take(tap, acc, load(buffers.argument(0), add(mul(position, in.dim(3)), c)));
                }));
        Expr result = average ? mean(block, acc, mul(ky.count(), kx.count())) : acc;
        epilogue.store(block, "_out", result, c, buffers.output(), index);
    }

    private Expr start() {
        if (op.type().dtype().isFloat()) {
            return imm(average ? 0.0f : Float.NEGATIVE_INFINITY);
        }
        return imm(average ? 0 : op.type().dtype().min(), sumType);
    }

    private Expr widened(Expr value) {
        return sumType == DType.INT64 ? cast(DType.INT64, value) : value;
    }

    /** The mean of a sum. Integers round halves away from zero, as in TFLite's average pool, or up, or are truncated. */
    private Expr mean(BlockBuilder block, Expr sum, Expr taps) {
        if (sum.dtype().isFloat()) {
            return Exprs.div(sum, cast(DType.FLOAT32, taps));
        }
        return sumType == DType.INT64 ? cast(DType.INT32, meanOf(block, sum, widened(taps))) : meanOf(block, sum, taps);
    }

    private Expr meanOf(BlockBuilder block, Expr sum, Expr taps) {
        Expr count = block.let("count", taps);
        if (rounding == Rounding.TRUNCATE) {
            return Exprs.div(sum, count);
        }
        Expr half = Exprs.div(count, imm(2, sumType));
        if (rounding == Rounding.UPWARD) {
            // Elements less the smallest value are not negative, so division rounds down.
            Expr least = imm(op.type().dtype().min(), sumType);
            return add(Exprs.div(add(sub(sum, mul(count, least)), half), count), least);
        }
        Expr rounded = Exprs.select(Exprs.gt(sum, imm(0, sumType)), add(sum, half), sub(sum, half));
        return Exprs.div(rounded, count);
    }
}
