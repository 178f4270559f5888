// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.ResizeCoordinates;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.type.Shape;
import io.kiln.lower.Epilogue;
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
import java.util.List;

/** Resized images, NHWC: tables hold the source rows and columns. */
final class ResizeLowering {
    private final FusedOperator op;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Epilogue epilogue;
    private final Resize2d root;
    private final Shape in;
    private final Shape out;

    /** One dimension: the pixels before and after, and the distance from the first. */
    private record Axis(Buffer lower, Buffer upper, Buffer fraction) {}

    ResizeLowering(FusedOperator op) {
        this.op = op;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.epilogue = new Epilogue(op, Integer.MAX_VALUE, tables);
        this.root = (Resize2d) op.root().op();
        this.in = op.rootTypes().get(0).shape();
        this.out = op.type().shape();
    }

    LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        Axis vertical = axis("row", in.dim(1), root.height());
        Axis horizontal = axis("column", in.dim(2), root.width());
        body.loop(
                "n",
                out.dim(0),
                (batch, n) -> batch.loop("y", rows.firstLine(out), rows.endLine(out), 1, (row, y) -> {
                    Expr line = row.let("line", mul(add(mul(n, out.dim(1)), rows.outputLine(y)), out.dim(2)));
                    row.loop("x", out.dim(2), (column, x) -> {
                        Expr to = column.let("to", mul(add(line, x), out.dim(3)));
                        if (root.linear()) {
                            linear(column, n, y, x, to, vertical, horizontal);
                        } else {
                            Expr from = at(n, load(vertical.lower, y), load(horizontal.lower, x));
                            nearest(column, column.let("from", from), to);
                        }
                    });
                }));
        return Nests.operator(
                op,
                buffers,
                tables,
                rows,
                List.of(new RowDependency.All(Rows.count(in))),
                body.build(),
                root.linear() ? "linear" : "nearest");
    }

    private Axis axis(String name, int from, int to) {
        ResizeCoordinates c = new ResizeCoordinates(from, to, root.alignCorners(), root.halfPixelCenters());
        DType index = Math.max(from, to) <= Short.MAX_VALUE ? DType.INT16 : DType.INT32;
        if (!root.linear()) {
            Buffer nearest = tables.add(name, index, c.nearest());
            return new Axis(nearest, nearest, nearest);
        }
        int[] lower = new int[to];
        int[] upper = new int[to];
        int[] fraction = new int[to];
        float[] real = new float[to];
        boolean isFloat = op.type().dtype().isFloat();
        for (int i = 0; i < to; i++) {
            lower[i] = isFloat ? c.realLower(i) : c.lower()[i];
            upper[i] = isFloat ? c.realUpper(i) : c.upper()[i];
            fraction[i] = isFloat ? 0 : c.positions()[i] - ResizeCoordinates.ONE * lower[i];
            real[i] = c.realPosition(i) - lower[i];
        }
        Bytes reals = Constant.vector(real).data();
        return new Axis(
                tables.add(name, index, lower),
                tables.add("next_" + name, index, upper),
                isFloat
                        ? tables.add("part_" + name, DType.FLOAT32, reals)
                        : tables.add("part_" + name, DType.INT32, fraction));
    }

    /** Position of the first channel of an input pixel. */
    private Expr at(Expr n, Expr row, Expr column) {
        return mul(add(mul(add(mul(n, in.dim(1)), row), in.dim(2)), column), in.dim(3));
    }

    private void nearest(BlockBuilder block, Expr from, Expr to) {
        block.loop("c", out.dim(3), (channel, c) -> {
            Expr value = load(buffers.argument(0), add(from, c));
            if (op.clip().isEmpty()) {
                channel.store(buffers.output(), add(to, c), value);
            } else {
                epilogue.store(channel, "_out", value, c, buffers.output(), add(to, c));
            }
        });
    }

    private void linear(BlockBuilder block, Expr n, Expr y, Expr x, Expr to, Axis vertical, Axis horizontal) {
        Expr top = block.let("top", load(vertical.lower, y));
        Expr bottom = block.let("bottom", load(vertical.upper, y));
        Expr left = block.let("left", load(horizontal.lower, x));
        Expr right = block.let("right", load(horizontal.upper, x));
        Expr fy = block.let("fy", load(vertical.fraction, y));
        Expr fx = block.let("fx", load(horizontal.fraction, x));
        boolean isFloat = op.type().dtype().isFloat();
        Expr one = isFloat ? imm(1.0f) : imm(ResizeCoordinates.ONE);
        Expr gy = block.let("gy", sub(one, fy));
        Expr gx = block.let("gx", sub(one, fx));
        Expr a = block.let("a", at(n, top, left));
        Expr b = block.let("b", at(n, bottom, left));
        Expr c = block.let("c", at(n, top, right));
        Expr d = block.let("d", at(n, bottom, right));
        block.loop("i", out.dim(3), (channel, i) -> {
            Expr sum = add(
                    add(
                            add(weighted(a, i, gy, gx, isFloat), weighted(b, i, fy, gx, isFloat)),
                            weighted(c, i, gy, fx, isFloat)),
                    weighted(d, i, fy, fx, isFloat));
            Expr value = isFloat ? sum : rounded(channel.let("sum", sum));
            epilogue.store(channel, "_out", value, i, buffers.output(), add(to, i));
        });
    }

    private Expr weighted(Expr pixel, Expr channel, Expr row, Expr column, boolean isFloat) {
        Expr value = load(buffers.argument(0), add(pixel, channel));
        return isFloat ? mul(mul(value, row), column) : mul(value, mul(row, column));
    }

    /** Rounds an interpolated sum with 20 fraction bits, halves away from zero. */
    private static Expr rounded(Expr sum) {
        Expr half = imm(1 << 19);
        return Exprs.div(Exprs.select(Exprs.gt(sum, imm(0)), add(sum, half), sub(sum, half)), imm(1 << 20));
    }
}
