// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.Interior;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Depthwise convolution for any core: channels innermost, one accumulator; the taps of a pixel whose window lies inside
 * the input are unrolled, so that every load has a constant offset from a row pointer.
 *
 * <pre>
 * registers: accumulator, input value, weight, a pointer for each row of the window, pointer to weights
 * weights: as in the model, [ky][kx][channel]
 * memory: no scratch
 * </pre>
 */
final class DepthwiseDirect {
    private final ConvComputation conv;
    private final Buffer input;
    private final Buffer weights;
    private final DepthwiseSums sums;
    private final int multiplier;
    private final boolean isUnrolled;
    private final boolean isPacked;

    /** Neighbouring pixels computed together, if their windows lie inside the input. */
    private final int pixelBlock;

    /**
     * The schedule's explicit values.
     *
     * @param isUnrolled whether the taps of a window inside the input are unrolled
     * @param pixelBlock neighbouring pixels computed together, if their windows lie inside the input
     * @param isPacked whether weights are packed two to a byte
     */
    record Knobs(boolean isUnrolled, int pixelBlock, boolean isPacked) {}

    /** The loops. */
    LayerLoops loops(Rows rows) {
        return new LayerLoops(body(rows), conv.macsInside());
    }

    /** Makes tables. */
    DepthwiseDirect(ConvTask task, Knobs knobs) {
        this.conv = task.conv();
        this.isUnrolled = knobs.isUnrolled();
        this.isPacked = knobs.isPacked();
        this.pixelBlock = knobs.pixelBlock();
        this.input = task.buffers().argument(0);
        Tables tables = task.tables();
        this.weights = isPacked
                ? FourBitWeights.halvesOfTaps(conv, tables)
                : tables.add(
                        "weight", conv.weight().type().dtype(), conv.weight().data());
        this.sums = new DepthwiseSums(task, DepthwisePixels.fit(conv));
        this.multiplier = conv.channels() / conv.input().dim(3);
    }

    private Stmt body(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) -> batch.loop(
                        "y",
                        rows.firstLine(conv.output()),
                        rows.endLine(conv.output()),
                        1,
                        (row, y) -> line(row, rows, n, y)));
        return body.build();
    }

    private void line(BlockBuilder row, Rows rows, Expr n, Expr y) {
        TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
        Line line = new Line(rows, n, y, ky);
        int width = conv.output().dim(2);
        Interior interior = Interior.of(conv);
        int whole = pixelBlock == 1 ? 0 : interior.size() / pixelBlock * pixelBlock;
        int begin = whole == 0 ? 0 : interior.begin();
        row.loop("x", imm(0), imm(begin), 1, (b, x) -> pixel(b, line, x));
        row.loop("x", imm(begin), imm(begin + whole), pixelBlock, (b, x) -> {
            Consumer<BlockBuilder> together = inner -> pixels(inner, line, x);
            if (ky.isWhole()) {
                together.accept(b);
            } else {
                Expr end = add(x, pixelBlock);
                b.ifThenElse(
                        ky.isWholeAtRunTime(),
                        together,
                        inner -> inner.loop("x_each", x, end, 1, (each, i) -> pixel(each, line, i)));
            }
        });
        row.loop("x", imm(begin + whole), imm(width), 1, (b, x) -> pixel(b, line, x));
    }

    /** A row of the output, and the window's rows inside the input. */
    private record Line(Rows rows, Expr n, Expr y, TapRange ky) {}

    /** Position of a pixel's first channel in the output. */
    private Expr output(BlockBuilder block, Line line, Expr x) {
        Expr row = add(mul(line.n, conv.output().dim(1)), line.rows.outputLine(line.y));
        return block.let("pixel", mul(add(mul(row, conv.output().dim(2)), x), conv.channels()));
    }

    private void pixel(BlockBuilder column, Line line, Expr x) {
        Window w = conv.window();
        TapRange ky = line.ky;
        TapRange kx = TapRange.of(column, "x", x, TapRange.Axis.columns(w, conv.input()));
        Expr out = output(column, line, x);
        if (!isUnrolled) {
            windowed(column, line.rows, line.n, ky, kx, out);
        } else if (ky.isWhole() && kx.isWhole()) {
            unrolled(column, line.rows, line.n, ky, kx, out);
        } else {
            Expr inside = Exprs.and(ky.isWholeAtRunTime(), kx.isWholeAtRunTime());
            column.ifThenElse(
                    inside,
                    b -> unrolled(b, line.rows, line.n, ky, kx, out),
                    b -> windowed(b, line.rows, line.n, ky, kx, out));
        }
    }

    /** Neighbouring pixels whose windows lie inside the input, with all taps unrolled. */
    private void pixels(BlockBuilder block, Line line, Expr x) {
        Window w = conv.window();
        Expr origin = block.let("origin_x", sub(mul(x, w.strideW()), imm(w.padLeft())));
        List<Buffer> inputRows = inputRows(block, line.rows, line.n, line.ky, origin);
        Expr out = output(block, line, x);
        channels(block, (inner, c, oc) -> {
            List<Expr.Var> each = new ArrayList<>();
            for (int p = 0; p < pixelBlock; p++) {
                each.add(sums.start(inner, "acc" + p, oc));
            }
            new DepthwisePixels(conv, inputRows, weights)
                    .emit(inner, pixelBlock, c, oc, (p, x0, by) -> sums.accumulate(inner, each.get(p), x0, by));
            for (int p = 0; p < pixelBlock; p++) {
                sums.store(inner, String.valueOf(p), each.get(p), oc, add(out, (long) p * conv.channels()));
            }
        });
    }

    /** All taps unrolled; the window lies inside the input. */
    private void unrolled(BlockBuilder block, Rows rows, Expr n, TapRange ky, TapRange kx, Expr out) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        List<Buffer> inputRows = inputRows(block, rows, n, ky, kx.origin());
        channelLoops(block, out, (inner, c, oc, acc) -> {
            for (int k = 0; k < w.kernelH(); k++) {
                for (int j = 0; j < w.kernelW(); j++) {
                    Expr x = load(inputRows.get(k), add(c, (long) j * w.dilationW() * channels));
                    sums.accumulate(inner, acc, x, weight(imm((long) k * w.kernelW() + j), oc));
                }
            }
        });
    }

    /** Loops over the taps inside the input. Positions of a row are computed once: clang would compute them for each tap. */
    private void windowed(BlockBuilder block, Rows rows, Expr n, TapRange ky, TapRange kx, Expr out) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        channelLoops(
                block,
                out,
                (inner, c, oc, acc) -> inner.loop("ky", ky.begin(), ky.end(), 1, (rowBlock, k) -> {
                    Expr row = rows.inputLine(0, add(ky.origin(), mul(k, w.dilationH())));
                    Expr first = rowBlock.let("first", add(mul(pixel(n, row, kx.origin()), channels), c));
                    Expr taps = mul(k, w.kernelW());
                    Expr at = isPacked ? taps : rowBlock.let("taps", add(mul(taps, conv.channels()), oc));
                    rowBlock.loop("kx", kx.begin(), kx.end(), 1, (tap, j) -> {
                        Expr x = load(input, add(first, mul(j, (long) w.dilationW() * channels)));
                        Expr weight = isPacked
                                ? weight(tap.let("position", add(at, j)), oc)
                                : load(weights, add(at, mul(j, conv.channels())));
                        sums.accumulate(tap, acc, x, weight);
                    });
                }));
    }

    private Expr weight(Expr tap, Expr channel) {
        return isPacked
                ? FourBitWeights.atTap(conv, weights, tap, channel)
                : load(weights, add(mul(tap, conv.channels()), channel));
    }

    /** The rows under a window that lies inside the input, from a column on. */
    private List<Buffer> inputRows(BlockBuilder block, Rows rows, Expr n, TapRange ky, Expr column) {
        List<Buffer> inputRows = new ArrayList<>();
        for (int k = 0; k < conv.window().kernelH(); k++) {
            Expr row =
                    rows.inputLine(0, add(ky.origin(), (long) k * conv.window().dilationH()));
            Expr first = mul(pixel(n, row, column), conv.input().dim(3));
            inputRows.add(block.view("in" + k, input, first));
        }
        return inputRows;
    }

    private void channels(BlockBuilder block, EachChannel body) {
        block.loop(
                "c",
                conv.input().dim(3),
                (inner, c) -> inner.loop("m", multiplier, (last, m) -> {
                    Expr oc = last.let("oc", add(mul(c, multiplier), m));
                    body.emit(last, c, oc);
                }));
    }

    private void channelLoops(BlockBuilder block, Expr out, ChannelBody body) {
        channels(block, (inner, c, oc) -> {
            Expr.Var acc = sums.start(inner, "acc", oc);
            body.emit(inner, c, oc, acc);
            sums.store(inner, "", acc, oc, out);
        });
    }

    /** Emits the code for an output channel of an input channel. */
    @FunctionalInterface
    private interface EachChannel {
        void emit(BlockBuilder block, Expr inputChannel, Expr outputChannel);
    }

    /** Adds the taps of one channel to its accumulator. */
    @FunctionalInterface
    private interface ChannelBody {
        void emit(BlockBuilder block, Expr inputChannel, Expr outputChannel, Expr.Var accumulator);
    }

    private Expr pixel(Expr n, Expr row, Expr column) {
        return add(mul(add(mul(n, conv.input().dim(1)), row), conv.input().dim(2)), column);
    }
}
