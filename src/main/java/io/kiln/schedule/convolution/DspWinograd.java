// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.equal;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.min;
import static io.kiln.tir.Exprs.mod;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapRange;
import io.kiln.schedule.parts.PixelBlocks;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * Convolution of 3x3 on Cortex-M with the DSP extension by Winograd's F(2, 3) along rows, exactly, in integers: two neighbouring
 * pixels take 4 products for each row of the window and input channel in place of 6.
 *
 * <pre>
 * of columns d0 d1 d2 d3 and weights g0 g1 g2, all times two:
 * m1 = (d1 + d2)(g0 + g1 + g2)   m2 = (d2 - d1)(g0 - g1 + g2)   m0 = (d0 - d2) 2 g0   m3 = (d1 - d3)(-2 g2)
 * y0 = m1 + m2 + m0              y1 = m1 - m2 + m3
 * scratch: factors of four pixels, see {@link DspWinogradInput}
 * weights: see {@link DspWinogradWeights}, three times as large as the model's
 * left over: the last four pixels of a row may overlap those before, as may the last four channels
 * </pre>
 *
 * <p>Source: A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015.
 */
final class DspWinograd {
    static final int BLOCK = 4;
    /** Number of pixels computed together: two times two. */
    static final int PIXELS = 4;

    private final ConvComputation conv;
    /** Times four pixels that a block of weights is read for. */
    private final int fours;

    private final DspWinogradInput factors;
    private final DspWinogradKernel kernel;
    private final Buffer input;
    private final Buffer output;
    private final Buffer fill;
    private final Buffer weights;
    private final Buffer scratch;

    /**
     * What of the code of a layer can be chosen.
     *
     * @param unroll largest number of unrolled steps
     * @param isShort whether code is {@linkplain io.kiln.schedule.space.Space#SHORT short}
     * @param isPaired see {@link DspConvShape}
     * @param tile times four pixels that a block of weights is read for
     */
    record Form(int unroll, boolean isShort, boolean isPaired, int tile) {}

    /** Packs weights and reserves scratch. */
    DspWinograd(ConvTask task, DspRequantize rescale, Form form) {
        Tables tables = task.tables();
        OperatorBuffers buffers = task.buffers();
        this.conv = task.conv();
        int channels = conv.input().dim(3);
        this.fours = form.tile;
        this.factors = new DspWinogradInput(channels, form.isShort, form.isPaired);
        Optional<DspWinogradKernel.Tile> kernelTile = fours == 1
                ? Optional.empty()
                : Optional.of(new DspWinogradKernel.Tile(DspTile.isCopied(task.workload())));
        this.kernel = new DspWinogradKernel(
                DspWinogradInput.filled(channels),
                conv.channels(),
                DspEpilogue.of(rescale),
                form.unroll,
                form.isShort || kernelTile.isPresent(),
                form.isPaired,
                kernelTile);
        this.input = buffers.argument(0);
        this.output = buffers.output();
        byte[] padding = new byte[PIXELS * channels];
        Arrays.fill(padding, (byte) conv.inputZeroPoint());
        this.fill = conv.window().isPadded() ? tables.add("padding", DType.INT8, Bytes.wrap(padding)) : input;
        this.weights = tables.add("weight", DType.INT32, DspWinogradWeights.pack(conv, rescale));
        this.scratch =
                buffers.scratch(DType.INT8, kernel.copyBytes() + (long) fours * DspWinogradInput.bytes(channels));
    }

    /** The most fours of pixels of a tile; 1 if pixels or channels are left over. */
    static int mostInTile(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean isEven = conv.output().dim(2) % PIXELS == 0 && conv.channels() % BLOCK == 0;
        return isEven
                ? DspTile.most(workload, DspWinogradInput.bytes(conv.input().dim(3)), PIXELS)
                : 1;
    }

    /** The loops. */
    LayerLoops loops(Rows rows) {
        return new LayerLoops(body(rows), executedMacs(conv)).sharing((long) PIXELS * fours);
    }

    /** Ratio of the computed pixels and input channels to the needed ones. */
    static double excess(ConvComputation conv) {
        int width = conv.output().dim(2);
        int channels = conv.input().dim(3);
        double pixels = (double) ((width + PIXELS - 1) / PIXELS * PIXELS) / width;
        return pixels * DspWinogradInput.filled(channels) / channels;
    }

    /** Number of products that the kernels execute. */
    private static long executedMacs(ConvComputation conv) {
        long fours = (conv.output().dim(2) + PIXELS - 1L) / PIXELS;
        long rows = (long) conv.output().dim(0) * conv.output().dim(1);
        return rows
                * fours
                * PIXELS
                / 2
                * 12
                * DspWinogradInput.filled(conv.input().dim(3))
                * DspWinogradWeights.channels(conv);
    }

    private Stmt body(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        body.loop("n", conv.output().dim(0), (batch, n) -> {
            if (fours > 1 && rows.areContiguousInRange()) {
                tiles(batch, rows, n);
                return;
            }
            batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), 1, (row, y) -> {
                if (fours > 1) {
                    Range range = new Range(imm(0), imm(perRow()));
                    tiles(row, range, line(row, rows, n, y), (four, at) -> new Pixel(y, mul(at, PIXELS)), rows, n);
                } else {
                    fours(row, rows, n, y);
                }
            });
        });
        return body.build();
    }

    /** The first pixel of a row of the output. */
    private Expr line(BlockBuilder row, Rows rows, Expr n, Expr y) {
        Expr line = add(mul(n, conv.output().dim(1)), rows.outputLine(y));
        return row.let("line", mul(line, conv.output().dim(2)));
    }

    /** A row of pixels, four by four. */
    private void fours(BlockBuilder row, Rows rows, Expr n, Expr y) {
        TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
        fillOutside(row, scratch, ky);
        Expr out = line(row, rows, n, y);
        PixelBlocks.loop(row, conv.output().dim(2), PIXELS, (block, x) -> {
            inside(block, scratch, new Source(rows, n, ky), x);
            multiply(block, mul(add(out, x), conv.channels()));
        });
    }

    /** The first of four pixels. */
    private record Pixel(Expr y, Expr x) {}

    /** Numbers of fours of pixels. */
    private record Range(Expr begin, Expr end) {}

    /** Rows of an input under a line of windows. */
    private record Source(Rows rows, Expr n, TapRange ky) {}

    private int perRow() {
        return conv.output().dim(2) / PIXELS;
    }

    /** All rows of a range, which are contiguous. */
    private void tiles(BlockBuilder batch, Rows rows, Expr n) {
        int width = conv.output().dim(2);
        Expr plane = mul(n, (long) conv.output().dim(1) * width);
        Expr to = batch.let("to_row", add(plane, mul(rows.outputShift(), width)));
        Range range =
                new Range(mul(rows.firstLine(conv.output()), perRow()), mul(rows.endLine(conv.output()), perRow()));
        tiles(
                batch,
                range,
                to,
                (four, at) -> new Pixel(four.let("y", div(at, imm(perRow()))), mul(mod(at, imm(perRow())), PIXELS)),
                rows,
                n);
    }

    private void tiles(
            BlockBuilder block, Range range, Expr to, BiFunction<BlockBuilder, Expr, Pixel> pixel, Rows rows, Expr n) {
        boolean divides = sub(range.end, range.begin) instanceof Expr.IntImm count && count.value() % fours == 0;
        int bytes = DspWinogradInput.bytes(conv.input().dim(3));
        block.loop("tile", range.begin, range.end, fours, (each, first) -> {
            Expr count = divides ? imm(fours) : each.let("count", min(imm(fours), sub(range.end, first)));
            each.loop("i", imm(0), count, 1, (four, i) -> {
                Buffer window = four.mutableView("window", scratch, add(mul(i, bytes), kernel.copyBytes()));
                Pixel at = pixel.apply(four, four.let("at", add(first, i)));
                TapRange ky = TapRange.of(four, "y", at.y, TapRange.Axis.rows(conv.window(), conv.input()));
                fillOutside(four, window, ky);
                inside(four, window, new Source(rows, n, ky), at.x);
            });
            Expr place = mul(add(to, mul(first, PIXELS)), conv.channels());
            call(each, "", place, weights, List.of(imm(conv.channels() / BLOCK), count));
        });
    }

    /** Rows of the windows that lie outside the input are the same for a whole line. */
    private void fillOutside(BlockBuilder block, Buffer window, TapRange ky) {
        if (!ky.isWhole()) {
            block.loop("above", imm(0), ky.begin(), 1, (b, k) -> factors(b, window, k, imm(-1), imm(-1), imm(-1)));
            block.loop("below", ky.end(), imm(3), 1, (b, k) -> factors(b, window, k, imm(-1), imm(-1), imm(-1)));
        }
    }

    /** Factors of the rows inside the input. */
    private void inside(BlockBuilder block, Buffer window, Source source, Expr x) {
        int channels = conv.input().dim(3);
        Window w = conv.window();
        TapRange ky = source.ky;
        block.loop("ky", ky.begin(), ky.end(), 1, (row, k) -> {
            Expr inputLine = source.rows.inputLine(0, add(ky.origin(), k));
            Expr line = add(mul(source.n, conv.input().dim(1)), inputLine);
            Expr column = add(mul(line, conv.input().dim(2)), add(x, 1L - w.padLeft()));
            Expr from = row.let("from", mul(column, channels));
            Expr first = sub(from, imm(channels));
            Expr last = add(from, 4L * channels);
            Expr end = imm(conv.output().dim(2) - PIXELS);
            factors(
                    row,
                    window,
                    k,
                    from,
                    w.padLeft() == 0 ? first : select(equal(x, imm(0)), imm(-1), first),
                    w.padRight() == 0 ? last : select(equal(x, end), imm(-1), last));
        });
    }

    private void factors(BlockBuilder block, Buffer window, Expr ky, Expr from, Expr first, Expr last) {
        Buffer place = block.mutableView("to", window, mul(ky, factors.rowBytes()));
        block.call(factors.kernel(), List.of(place, input, fill), List.of(from, first, last));
    }

    /** All channels of four pixels. */
    private void multiply(BlockBuilder block, Expr pixel) {
        int whole = conv.channels() / BLOCK;
        call(block, "", pixel, weights, List.of(imm(whole)));
        if (conv.channels() % BLOCK != 0) {
            Buffer rest = block.view("rest", weights, imm(weights.elements() / (whole + 1) * whole));
            call(block, "_rest", add(pixel, conv.channels() - (long) BLOCK), rest, List.of(imm(1)));
        }
    }

    private void call(BlockBuilder block, String suffix, Expr to, Buffer w, List<Expr> counts) {
        Buffer out = block.mutableView("out" + suffix, output, to);
        List<Expr> scalars = new ArrayList<>(counts);
        scalars.addAll(kernel.epilogue().arguments());
        block.call(kernel.kernel(), List.of(scratch, w, out), scalars);
    }
}
