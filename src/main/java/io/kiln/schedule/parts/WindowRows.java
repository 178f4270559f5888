// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.stream.IntStream;

/**
 * The rows of the windows of one row of the output, for kernels that walk over them.
 *
 * @param in position of the first column of the window's first row inside the input
 * @param out position of the first pixel in the output
 * @param ky rows of the window inside the input
 * @param before rows of the window before the input's buffer wraps around
 * @param wrap rows by which it does; 0 if it holds all rows
 */
public record WindowRows(Expr in, Expr out, TapRange ky, Expr before, int wrap) {
    /** Rows before a buffer that never wraps around does so. */
    public static final int NEVER = 1 << 20;

    /** Emits the code that finds the rows of output row {@code y} of image {@code n}. */
    public static WindowRows of(BlockBuilder row, ConvComputation conv, Rows rows, Expr n, Expr y) {
        TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
        int dilation = conv.window().dilationH();
        Expr first = row.let("line", rows.inputLine(0, add(ky.origin(), mul(ky.begin(), dilation))));
        long inElements = (long) conv.input().dim(2) * conv.input().dim(3);
        long outElements = (long) conv.output().dim(2) * conv.channels();
        Expr in = row.let("row_in", mul(add(mul(n, conv.input().dim(1)), first), inElements));
        Expr out = row.let("row_out", mul(add(mul(n, conv.output().dim(1)), rows.outputLine(y)), outElements));
        return new WindowRows(in, out, ky, before(row, rows, first, dilation), ring(rows));
    }

    /** Whether every window has a row inside the input: kernels do not count to 0. */
    public static boolean areInside(ConvComputation conv) {
        Window w = conv.window();
        return IntStream.range(0, conv.output().dim(1))
                .map(y -> y * w.strideH() - w.padTop())
                .allMatch(first -> IntStream.range(0, w.kernelH())
                        .map(k -> first + k * w.dilationH())
                        .anyMatch(row -> row >= 0 && row < conv.input().dim(1)));
    }

    /** Number of rows in the input's buffer; 0 if it holds all. */
    public static int ring(Rows rows) {
        return rows.inputRings().isEmpty() ? 0 : rows.inputRings().get(0);
    }

    /** Emits the number of rows of a window, from a line of the input's buffer on, before the buffer wraps around. */
    public static Expr before(BlockBuilder block, Rows rows, Expr line, int dilation) {
        int ring = ring(rows);
        return ring == 0
                ? imm(NEVER)
                : block.let("before", Exprs.div(add(sub(imm(ring), line), dilation - 1), imm(dilation)));
    }
}
