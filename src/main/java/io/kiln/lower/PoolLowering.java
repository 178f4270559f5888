// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.AvgPool2d;
import io.kiln.ir.op.MaxPool2d;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;

/** Average and maximum pools, NHWC: a loop over channels around the taps inside the input. */
public final class PoolLowering {
    private final FusedOperator op;
    private final Window window;
    private final boolean average;
    private final Shape in;
    private final Shape out;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Epilogue epilogue;

    public PoolLowering(FusedOperator op) {
        this.op = op;
        this.average = op.root().op() instanceof AvgPool2d;
        this.window = op.root().op() instanceof AvgPool2d pool
                ? pool.window()
                : ((MaxPool2d) op.root().op()).window();
        this.in = op.rootTypes().get(0).shape();
        this.out = op.type().shape();
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.epilogue = new Epilogue(op, 255, tables);
    }

    public LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        body.loop(
                "n",
                out.dim(0),
                (batch, n) -> batch.loop("y", rows.firstLine(out), rows.endLine(out), 1, (row, y) -> {
                    TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(window, in));
                    row.loop("x", out.dim(2), (column, x) -> {
                        TapRange kx = TapRange.of(column, "x", x, TapRange.Axis.columns(window, in));
                        Expr pixel = add(mul(add(mul(n, out.dim(1)), rows.outputLine(y)), out.dim(2)), x);
                        column.loop(
                                "c",
                                out.dim(3),
                                (channel, c) -> pixel(channel, rows, n, ky, kx, c, add(mul(pixel, out.dim(3)), c)));
                    });
                }));
        RowDependency dependency = Rows.count(out) == out.dim(1) && in.dim(0) == 1
                ? new RowDependency.Window(window.strideH(), window.padTop(), window.spanH(), in.dim(1))
                : new RowDependency.All(Rows.count(in));
        return Nests.operator(
                op, buffers, tables, rows, List.of(dependency), body.build(), average ? "average" : "maximum");
    }

    private void pixel(BlockBuilder block, Rows rows, Expr n, TapRange ky, TapRange kx, Expr c, Expr index) {
        Expr.Var acc = block.mutable("acc", start());
        block.loop(
                "ky",
                ky.begin(),
                ky.end(),
                1,
                (rowBlock, k) -> rowBlock.loop("kx", kx.begin(), kx.end(), 1, (tap, j) -> {
                    Expr row = rows.inputLine(0, add(ky.origin(), mul(k, window.dilationH())));
                    Expr column = add(kx.origin(), mul(j, window.dilationW()));
                    Expr position = add(mul(add(mul(n, in.dim(1)), row), in.dim(2)), column);
                    Expr value = load(buffers.argument(0), add(mul(position, in.dim(3)), c));
                    tap.assign(acc, average ? add(acc, value) : Exprs.max(tap.let("value", value), acc));
                }));
        Expr result = average ? mean(block, acc, mul(ky.count(), kx.count())) : acc;
        epilogue.store(block, "_out", result, c, buffers.output(), index);
    }

    private Expr start() {
        if (op.type().dtype().isFloat()) {
            return imm(average ? 0.0f : -Float.MAX_VALUE);
        }
        return imm(average ? 0 : op.type().dtype().min());
    }

    /** Rounds halves away from zero, as TFLite's integer average pool does. */
    private static Expr mean(BlockBuilder block, Expr sum, Expr taps) {
        if (sum.dtype().isFloat()) {
            return Exprs.div(sum, cast(DType.FLOAT32, taps));
        }
        Expr count = block.let("count", taps);
        Expr half = Exprs.div(count, imm(2));
        Expr rounded = Exprs.select(Exprs.gt(sum, imm(0)), add(sum, half), sub(sum, half));
        return Exprs.div(rounded, count);
    }
}
