// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
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
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

/**
 * Copies the windows of two neighbouring pixels to scratch. A window consists of runs that are adjacent in the input: its rows, or its pixels if
 * the width is dilated or there are groups. The part of a row outside the input is filled with the zero point. In scratch, runs are filled up to fours.
 */
final class DspWindow {
    private static final List<Kernel.Pointer> PAIR =
            List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT8));

    /** {@code (to, a, b, count)}: a run of inputs of both pixels, a multiple of four and not 0. */
    private static final Kernel WIDEN_PAIR = Kernel.inFile("convolution/kiln_widen_pair", PAIR, List.of(INT32));

    /** {@code (to, a, b, count)}: the last one to three inputs of both pixels. */
    private static final Kernel WIDEN_REST = Kernel.inFile("convolution/kiln_widen_rest", PAIR, List.of(INT32));

    /** {@code (to, from, before, inside, after, fill)}: one pixel's run, in fours: padding, inputs, padding. */
    private static final Kernel WIDEN_EDGE = Kernel.inFile(
            "convolution/kiln_widen_edge",
            List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8)),
            List.of(INT32, INT32, INT32, INT32));

    /** The same, counted in bytes. */
    private static final Kernel WIDEN_BYTES = Kernel.inFile(
            "convolution/kiln_widen_bytes",
            List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8)),
            List.of(INT32, INT32, INT32, INT32));

    private final ConvComputation conv;
    private final Buffer input;
    private final Buffer scratch;
    private final int run;
    private final int pitch;
    private final int runsInRow;

    DspWindow(ConvComputation conv, Buffer input, Buffer scratch) {
        this.conv = conv;
        this.input = input;
        this.scratch = scratch;
        this.run = run(conv);
        this.pitch = (run + 3) / 4 * 4;
        this.runsInRow = conv.window().kernelW() * conv.channelsPerGroup() / run;
    }

    /** The rows of the windows in one line of the output. */
    record Lines(TapRange ky, Rows rows, Expr batch) {}

    /** Whether neighbouring pixels of a window are not adjacent in the input. */
    static boolean isDilated(ConvComputation conv) {
        return conv.window().dilationW() > 1 && conv.window().kernelW() > 1;
    }

    private static int run(ConvComputation conv) {
        boolean isAdjacent = conv.groups() == 1 && !isDilated(conv);
        return (isAdjacent ? conv.window().kernelW() : 1) * conv.channelsPerGroup();
    }

    /** The tap of each input of the widened window; -1 where there is none. */
    static int[] order(ConvComputation conv) {
        int run = run(conv);
        int pitch = (run + 3) / 4 * 4;
        return IntStream.range(0, conv.taps() / run * pitch)
                .map(i -> i % pitch < run ? i / pitch * run + i % pitch : -1)
                .toArray();
    }

    /** Gathers two pixels of an input that is read pixel by pixel. */
    void gatherFlat(BlockBuilder block, Expr first, Expr second, Expr channel) {
        int channels = conv.input().dim(3);
        widenPair(block, imm(0), add(mul(first, channels), channel), add(mul(second, channels), channel));
    }

    private void widenPair(BlockBuilder block, Expr to, Expr a, Expr b) {
        int whole = run / 4 * 4;
        if (whole > 0) {
            widen(block, WIDEN_PAIR, "", to, a, b, whole);
        }
        if (whole < run) {
            Expr rest = add(to, 4L * whole);
            widen(block, WIDEN_REST, "_rest", rest, add(a, whole), add(b, whole), run - whole);
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

    /** Element of the input at which a line's first window begins, if that lies inside. */
    Expr firstInput(Lines lines) {
        return inputIndex(lines, imm(0), imm(0));
    }

    private void fillRows(BlockBuilder block, String name, Expr begin, Expr end) {
        Expr columns = imm(run / conv.channelsPerGroup());
        block.loop(name, mul(begin, runsInRow), mul(end, runsInRow), (row, k) -> {
            for (int pixel = 0; pixel < 2; pixel++) {
                edge(row, pixel, k, imm(0), new Edge(columns, imm(0), imm(0)));
            }
        });
    }

    /** Gathers the windows of the pixels at two columns, from an input channel on. */
    void gather(BlockBuilder block, Lines lines, Expr first, Expr second, Expr channel) {
        Window w = conv.window();
        TapRange.Axis axis = TapRange.Axis.columns(w, conv.input());
        if (!axis.isPadded()) {
            inside(block, lines, mul(first, w.strideW()), mul(second, w.strideW()), channel);
        } else {
            Expr origin0 = block.let("origin0", sub(mul(first, w.strideW()), imm(w.padLeft())));
            Expr origin1 = block.let("origin1", sub(mul(second, w.strideW()), imm(w.padLeft())));
            Expr most = imm(conv.input().dim(2) - w.spanW() + 1L);
            block.ifThenElse(
                    and(lt(imm(-1), origin0), lt(origin1, most)),
                    b -> inside(b, lines, origin0, origin1, channel),
                    b -> outside(b, lines, List.of(first, second), channel));
        }
    }

    /** For windows with all columns inside. */
    private void inside(BlockBuilder block, Lines lines, Expr origin0, Expr origin1, Expr channel) {
        block.loop(
                "ky",
                lines.ky().begin(),
                lines.ky().end(),
                (row, k) -> runs(row, (one, kx) -> {
                    Expr dilated = mul(kx, conv.window().dilationW());
                    Expr a = add(inputIndex(lines, k, add(origin0, dilated)), channel);
                    Expr b = add(inputIndex(lines, k, add(origin1, dilated)), channel);
                    widenPair(one, mul(add(mul(k, runsInRow), kx), 4L * pitch), a, b);
                }));
    }

    /** The runs of a row. */
    private void runs(BlockBuilder row, BiConsumer<BlockBuilder, Expr> body) {
        if (runsInRow == 1) {
            body.accept(row, imm(0));
        } else {
            row.loop("kx", runsInRow, body::accept);
        }
    }

    /** For windows with columns outside. */
    private void outside(BlockBuilder block, Lines lines, List<Expr> columns, Expr channel) {
        TapRange.Axis axis = TapRange.Axis.columns(conv.window(), conv.input());
        for (int pixel = 0; pixel < 2; pixel++) {
            int number = pixel;
            TapRange kx = TapRange.of(block, "x" + pixel, columns.get(pixel), axis);
            block.loop("k" + pixel, lines.ky().begin(), lines.ky().end(), (row, k) -> {
                if (runsInRow == 1) {
                    Expr from = add(inputIndex(lines, k, add(kx.origin(), kx.begin())), channel);
                    Expr after = sub(imm(conv.window().kernelW()), kx.end());
                    edge(row, number, k, from, new Edge(kx.begin(), kx.count(), after));
                } else {
                    pixels(row, number, lines, k, kx, channel);
                }
            });
        }
    }

    /** A row of the window of one pixel whose runs are pixels of the input. */
    private void pixels(BlockBuilder row, int number, Lines lines, Expr k, TapRange kx, Expr channel) {
        Expr first = mul(k, runsInRow);
        Edge none = new Edge(imm(1), imm(0), imm(0));
        row.loop("before", imm(0), kx.begin(), (b, x) -> edge(b, number, add(first, x), imm(0), none));
        kx.loop(row, "kx", (b, x) -> {
            Expr column = add(kx.origin(), mul(x, conv.window().dilationW()));
            Expr from = add(inputIndex(lines, k, column), channel);
            edge(b, number, add(first, x), from, new Edge(imm(0), imm(1), imm(0)));
        });
        row.loop("after", kx.end(), imm(runsInRow), (b, x) -> edge(b, number, add(first, x), imm(0), none));
    }

    /** How many columns of a run lie before the input, inside and after it. */
    private record Edge(Expr before, Expr inside, Expr after) {}

    /** One run of the window of one pixel. */
    private void edge(BlockBuilder block, int pixel, Expr number, Expr from, Edge columns) {
        String name = "_" + pixel;
        int channels = conv.channelsPerGroup();
        boolean areFours = channels % 4 == 0;
        Expr place = add(mul(number, 4L * pitch), 4L * pixel);
        Buffer to = block.mutableView("to" + name, scratch, place);
        Buffer source = block.view("from" + name, input, from);
        long unit = areFours ? channels / 4 : channels;
        block.call(
                areFours ? WIDEN_EDGE : WIDEN_BYTES,
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
