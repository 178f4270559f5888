// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.and;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import java.util.List;

/**
 * Copies the windows of two neighbouring pixels to scratch. A window's row is one run in the input; its part outside is
 * filled with the zero point. Runs, and their parts inside, are multiples of four.
 */
final class DspWindow {
    private final ConvComputation conv;
    private final Buffer input;
    private final Buffer scratch;
    private final int run;

    DspWindow(ConvComputation conv, Buffer input, Buffer scratch) {
        this.conv = conv;
        this.input = input;
        this.scratch = scratch;
        this.run = run(conv);
    }

    /** The rows of the windows in one line of the output. */
    record Lines(TapRange ky, Rows rows, Expr batch) {}

    /** Whether a pixel of the output reads only the pixel at the same position. */
    static boolean isFlat(ConvComputation conv) {
        Window w = conv.window();
        return w.kernelH() == 1 && w.kernelW() == 1 && w.strideH() == 1 && w.strideW() == 1 && !w.isPadded();
    }

    private static int run(ConvComputation conv) {
        return conv.window().kernelW() * conv.input().dim(3);
    }

    /** Gathers two pixels of an input that is read pixel by pixel. */
    void gatherFlat(BlockBuilder block, Expr first, Expr second) {
        widenPair(block, imm(0), mul(first, run), mul(second, run), run);
    }

    private void widenPair(BlockBuilder block, Expr to, Expr a, Expr b, int count) {
        int whole = count / 4 * 4;
        if (whole > 0) {
            widen(block, DspGather.WIDEN_PAIR, "", to, a, b, whole);
        }
        if (whole < count) {
            widen(
                    block,
                    DspGather.WIDEN_REST,
                    "_rest",
                    add(to, 4L * whole),
                    add(a, whole),
                    add(b, whole),
                    count - whole);
        }
    }

    private void widen(BlockBuilder block, Kernel kernel, String suffix, Expr to, Expr a, Expr b, int count) {
        Buffer target = block.mutableView("pair" + suffix, scratch, to);
        Buffer first = block.view("a" + suffix, input, a);
        Buffer second = block.view("b" + suffix, input, b);
        block.call(kernel, List.of(target, first, second), List.of(imm(count)));
    }

    /** Prepares a line of the output: fills window rows outside the input once. */
    Lines lines(BlockBuilder block, Rows rows, Expr n, Expr y) {
        TapRange ky = TapRange.of(block, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
        if (!ky.isWhole()) {
            fillRows(block, "above", imm(0), ky.begin());
            fillRows(block, "below", ky.end(), imm(conv.window().kernelH()));
        }
        return new Lines(ky, rows, n);
    }

    private void fillRows(BlockBuilder block, String name, Expr begin, Expr end) {
        block.loop(name, begin, end, 1, (row, k) -> {
            for (int pixel = 0; pixel < 2; pixel++) {
                edge(row, pixel, k, imm(0), new Edge(imm(conv.window().kernelW()), imm(0), imm(0)));
            }
        });
    }

    /** Gathers the windows of the pixels at two columns. */
    void gather(BlockBuilder block, Lines lines, Expr first, Expr second) {
        Window w = conv.window();
        TapRange.Axis axis = TapRange.Axis.columns(w, conv.input());
        if (!axis.padded()) {
            inside(block, lines, mul(first, w.strideW()), mul(second, w.strideW()));
        } else {
            Expr origin0 = block.let("origin0", sub(mul(first, w.strideW()), imm(w.padLeft())));
            Expr origin1 = block.let("origin1", sub(mul(second, w.strideW()), imm(w.padLeft())));
            Expr most = imm(conv.input().dim(2) - w.spanW() + 1L);
            block.ifThenElse(
                    and(lt(imm(-1), origin0), lt(origin1, most)),
                    b -> inside(b, lines, origin0, origin1),
                    b -> outside(b, lines, List.of(first, second), axis));
        }
    }

    /** For windows with all columns inside. */
    private void inside(BlockBuilder block, Lines lines, Expr origin0, Expr origin1) {
        block.loop("ky", lines.ky().begin(), lines.ky().end(), 1, (row, k) -> {
            List<Expr> from = List.of(inputIndex(lines, k, origin0), inputIndex(lines, k, origin1));
            widenPair(row, mul(k, 4L * run), from.get(0), from.get(1), run);
        });
    }

    /** For windows with columns outside. */
    private void outside(BlockBuilder block, Lines lines, List<Expr> columns, TapRange.Axis axis) {
        for (int pixel = 0; pixel < 2; pixel++) {
            int number = pixel;
            TapRange kx = TapRange.of(block, "x" + pixel, columns.get(pixel), axis);
            block.loop("k" + pixel, lines.ky().begin(), lines.ky().end(), 1, (row, k) -> {
                Expr from = inputIndex(lines, k, add(kx.origin(), kx.begin()));
                Expr after = sub(imm(conv.window().kernelW()), kx.end());
                edge(row, number, k, from, new Edge(kx.begin(), kx.count(), after));
            });
        }
    }

    /** How many columns of a window lie before the input, inside and after it. */
    private record Edge(Expr before, Expr inside, Expr after) {}

    /** One row of the window of one pixel. */
    private void edge(BlockBuilder block, int pixel, Expr k, Expr from, Edge columns) {
        String name = "_" + pixel;
        int channels = conv.input().dim(3);
        Expr place = add(mul(k, 4L * run), 4L * pixel);
        Buffer to = block.mutableView("to" + name, scratch, place);
        Buffer source = block.view("from" + name, input, from);
        long unit = channels / 4;
        block.call(
                DspGather.WIDEN_EDGE,
                List.of(to, source),
                List.of(
                        mul(columns.before, unit),
                        mul(columns.inside, unit),
                        mul(columns.after, unit),
                        imm(conv.inputZeroPoint())));
    }

    private Expr inputIndex(Lines lines, Expr k, Expr column) {
        Expr row = add(lines.ky().origin(), mul(k, conv.window().dilationH()));
        Expr line = add(mul(lines.batch(), conv.input().dim(1)), lines.rows().inputLine(0, row));
        return mul(add(mul(line, conv.input().dim(2)), column), conv.input().dim(3));
    }
}
