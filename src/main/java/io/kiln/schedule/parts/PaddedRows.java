// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.and;
import static io.kiln.tir.Exprs.gt;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;

/**
 * The input rows under one row of windows, copied to scratch with their padding: positions outside the input hold its
 * zero point, so that no window needs to check borders.
 *
 * <pre>
 * scratch: [ky][left padding, columns, right padding][channel]
 * </pre>
 */
public final class PaddedRows {
    private final ConvComputation conv;
    private final Buffer input;
    private final Buffer scratch;
    private final WordMoves moves;

    public PaddedRows(ConvComputation conv, Buffer input, Buffer scratch, WordMoves moves) {
        this.conv = conv;
        this.input = input;
        this.scratch = scratch;
        this.moves = moves;
    }

    /** Elements of one row with its padding. */
    public static int rowElements(ConvComputation conv) {
        return columns(conv) * conv.input().dim(3);
    }

    private static int columns(ConvComputation conv) {
        Window w = conv.window();
        int read = (conv.output().dim(2) - 1) * w.strideW() + w.spanW();
        return Math.max(read, w.padLeft() + conv.input().dim(2));
    }

    /** Elements of scratch. */
    public static long elements(ConvComputation conv) {
        return (long) conv.window().kernelH() * rowElements(conv);
    }

    /** The copied rows. */
    public Buffer scratch() {
        return scratch;
    }

    /** Fills the padding on both sides; later copies do not touch it. */
    public void fillSides(BlockBuilder block) {
        int left = conv.window().padLeft() * conv.input().dim(3);
        int end = left + conv.input().dim(2) * conv.input().dim(3);
        if (left == 0 && end == rowElements(conv)) {
            return;
        }
        block.loop("side", conv.window().kernelH(), (row, k) -> {
            fill(row, "l", mul(k, rowElements(conv)), left);
            fill(row, "r", add(mul(k, rowElements(conv)), end), rowElements(conv) - end);
        });
    }

    /** Fills everything: less code than filling only the sides. */
    public void fillAll(BlockBuilder block) {
        fill(block, "all", imm(0), Math.toIntExact(elements(conv)));
    }

    private void fill(BlockBuilder block, String name, Expr first, int count) {
        moves.fill(block, name, scratch, first, count, conv.inputZeroPoint());
    }

    /** Copies the rows under the windows of output row {@code y}. */
    public void copy(BlockBuilder block, Rows rows, Expr n, Expr y) {
        Window w = conv.window();
        Expr origin = block.let("origin_y", sub(mul(y, w.strideH()), imm(w.padTop())));
        block.loop("ky", w.kernelH(), (body, k) -> {
            Expr row = body.let("row", add(origin, mul(k, w.dilationH())));
            Expr to = add(
                    mul(k, rowElements(conv)), (long) w.padLeft() * conv.input().dim(3));
            boolean padded = w.padTop() + w.padBottom() > 0;
            if (padded) {
                Expr inside = and(gt(row, imm(-1)), lt(row, imm(conv.input().dim(1))));
                body.ifThenElse(
                        inside,
                        b -> copyRow(b, rows, n, row, to),
                        b -> fill(b, "i", to, conv.input().dim(2) * conv.input().dim(3)));
            } else {
                copyRow(body, rows, n, row, to);
            }
        });
    }

    private void copyRow(BlockBuilder block, Rows rows, Expr n, Expr row, Expr to) {
        int elements = conv.input().dim(2) * conv.input().dim(3);
        Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, row));
        Buffer target = block.mutableView("target", scratch, to);
        Buffer source = block.view("source", input, mul(line, elements));
        moves.copy(block, target, source, elements);
    }
}
