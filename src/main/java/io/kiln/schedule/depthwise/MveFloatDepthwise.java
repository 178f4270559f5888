// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.parts.Interior;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Stmt;
import java.util.List;
import java.util.Optional;

/**
 * Depthwise convolution of float data on MVE, four channels at a time: the output is initialised with the bias, a
 * kernel adds the taps of one row of the window for neighbouring pixels, and limits are applied last.
 *
 * <pre>
 * weights: as in the model, [ky][kx][channel]
 * memory: no scratch; sums are in the output
 * </pre>
 */
final class MveFloatDepthwise {
    private final ConvComputation conv;
    private final int pixels;
    private final Buffer input;
    private final Buffer output;
    private final Buffer weights;
    private final Buffer bias;

    /**
     * Makes tables.
     *
     * @param pixels number of neighbouring pixels computed together
     */
    MveFloatDepthwise(ConvTask task, int pixels) {
        this.conv = task.conv();
        this.pixels = pixels;
        this.input = task.buffers().argument(0);
        this.output = task.buffers().output();
        this.weights = task.tables().add("weight", DType.FLOAT32, conv.weight().data());
        this.bias = BiasTable.of(conv, task.tables()).buffer();
    }

    /** The loops. */
    LayerLoops loops(Rows rows) {
        return new LayerLoops(body(rows), conv.macsInside());
    }

    private Stmt body(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        Expr first = rows.firstLine(conv.output());
        Expr end = rows.endLine(conv.output());
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) -> batch.loop("y", first, end, 1, (row, y) -> {
                    TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
                    Line line = new Line(rows, n, y, ky);
                    int width = conv.output().dim(2);
                    Interior interior = Interior.of(conv);
                    int whole = interior.begin() + interior.size() / pixels * pixels;
                    row.loop("x", imm(0), imm(interior.begin()), 1, (b, x) -> edge(b, line, x));
                    row.loop("x", imm(interior.begin()), imm(whole), pixels, (b, x) -> together(b, line, x, pixels));
                    row.loop("x", imm(whole), imm(interior.end()), 1, (b, x) -> together(b, line, x, 1));
                    row.loop("x", imm(interior.end()), imm(width), 1, (b, x) -> edge(b, line, x));
                }));
        return body.build();
    }

    /** A row of the output, and the window's rows inside the input. */
    private record Line(Rows rows, Expr n, Expr y, TapRange ky) {}

    /** A pixel whose window may be clipped: tap by tap. */
    private void edge(BlockBuilder block, Line line, Expr x) {
        TapRange kx = TapRange.of(block, "x", x, TapRange.Axis.columns(conv.window(), conv.input()));
        Buffer out = start(block, line, x, 1);
        block.loop(
                "ky",
                line.ky.begin(),
                line.ky.end(),
                1,
                (rows, ky) -> rows.loop("kx", kx.begin(), kx.end(), 1, (b, k) -> {
                    Expr column = add(kx.origin(), mul(k, conv.window().dilationW()));
                    taps(b, line, column, new Taps(ky, k, 1), 1, out);
                }));
        limit(block, out, 1);
    }

    /** Pixels whose windows lie inside the input's width. */
    private void together(BlockBuilder block, Line line, Expr x, int count) {
        Window w = conv.window();
        Buffer out = start(block, line, x, count);
        Expr origin = block.let("origin_x", sub(mul(x, w.strideW()), imm(w.padLeft())));
        block.loop("ky", line.ky.begin(), line.ky.end(), 1, (rows, ky) -> {
            for (int kx = 0; kx < w.kernelW(); kx += MveFloatTaps.MOST_TAPS) {
                int taps = Math.min(MveFloatTaps.MOST_TAPS, w.kernelW() - kx);
                BlockBuilder part = new BlockBuilder();
                taps(part, line, add(origin, (long) kx * w.dilationW()), new Taps(ky, imm(kx), taps), count, out);
                rows.add(part.build());
            }
        });
        limit(block, out, count);
    }

    private Buffer start(BlockBuilder block, Line line, Expr x, int count) {
        Expr row = add(mul(line.n, conv.output().dim(1)), line.rows.outputLine(line.y));
        Expr pixel = mul(add(mul(row, conv.output().dim(2)), x), conv.channels());
        Buffer out = block.mutableView("out", output, pixel);
        block.call(MveFloatTaps.START, List.of(bias, out), List.of(imm(conv.channels()), imm(count)));
        return out;
    }

    /** Taps of a row of the window that follow each other, from a column on. */
    private record Taps(Expr ky, Expr kx, int count) {}

    private void taps(BlockBuilder block, Line line, Expr column, Taps taps, int count, Buffer out) {
        Window w = conv.window();
        Expr row = line.rows.inputLine(0, add(line.ky.origin(), mul(taps.ky, w.dilationH())));
        Expr pixel =
                add(mul(add(mul(line.n, conv.input().dim(1)), row), conv.input().dim(2)), column);
        Buffer in = block.view("in", input, mul(pixel, conv.channels()));
        Buffer by = block.view("w", weights, mul(add(mul(taps.ky, w.kernelW()), taps.kx), conv.channels()));
        MveFloatTaps kernel =
                new MveFloatTaps(count, taps.count, count == 1 ? 1 : w.strideW(), taps.count == 1 ? 1 : w.dilationW());
        block.call(kernel.kernel(), List.of(in, by, out), List.of(imm(conv.channels())));
    }

    private void limit(BlockBuilder block, Buffer out, int count) {
        Optional<Clip> clip = conv.op().clip();
        if (clip.isPresent()) {
            float low = (float) clip.get().min();
            float high = (float) clip.get().max();
            Expr least = bits(low == -Float.MAX_VALUE ? Float.NEGATIVE_INFINITY : low);
            Expr most = bits(high == Float.MAX_VALUE ? Float.POSITIVE_INFINITY : high);
            block.call(MveFloatTaps.LIMIT, List.of(out), List.of(imm((long) count * conv.channels()), least, most));
        }
    }

    private static Expr bits(float value) {
        return imm(Float.floatToIntBits(value));
    }
}
