// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.equal;
import static io.kiln.tir.Exprs.ge;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.min;
import static io.kiln.tir.Exprs.mod;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.or;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
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
 * weights: see {@link DspWinogradWeights}; for tiles of pixels as bytes, and each block is transformed in scratch before all pixels of a tile read it
 * left over: the last four pixels of a row may overlap those before, as may the last four channels
 * </pre>
 *
 * <p>Source: A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015.
 */
final class DspWinograd {
    static final int BLOCK = 4;
    private static final int WINDOW = 3;
    /** Number of pixels computed together: two times two. */
    static final int PIXELS = 4;

    private final ConvComputation conv;
    /** Most bytes of factors of a tile of rows. */
    private static final int MOST_BYTES = 12 << 10;

    /** Most groups of four pixels of a tile of rows: transforming weights for them takes about a twentieth of the time of their products, */
    private static final int MOST_FOURS = 16;

    /** and for so many a fifth, which is what fewer products save. */
    private static final int LEAST_FOURS = 4;

    /** Times four pixels that a block of weights is read for. */
    private final int fours;

    private final DspWinogradInput factors;
    private final DspWinogradKernel kernel;
    private final Buffer input;
    private final Buffer output;
    private final Buffer fill;
    private final Buffer weights;
    private final Buffer scratch;
    /** Bytes of scratch of a transformed block, which is before the factors. */
    private final int factorsAt;

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
        this.kernel = new DspWinogradKernel(
                DspWinogradInput.filled(channels),
                conv.channels(),
                DspEpilogue.of(rescale),
                form.unroll,
                form.isShort || fours > 1,
                form.isPaired,
                fours > 1);
        this.input = buffers.argument(0);
        this.output = buffers.output();
        byte[] padding = new byte[PIXELS * channels];
        Arrays.fill(padding, (byte) conv.inputZeroPoint());
        this.fill = conv.window().isPadded() ? tables.add("padding", DType.INT8, Bytes.wrap(padding)) : input;
        this.weights = tables.add(
                "weight",
                DType.INT32,
                fours > 1 ? DspWinogradWeights.packBytes(conv, rescale) : DspWinogradWeights.pack(conv, rescale));
        this.factorsAt = fours > 1 ? DspTile.aligned(kernel.blockBytes()) : 0;
        this.scratch = buffers.scratch(DType.INT8, factorsAt + (long) fours * DspWinogradInput.bytes(channels));
    }

    /** The most fours of pixels of a tile; 1 if pixels or channels are left over, or if transformed weights are not worth their time. */
    static int mostInTile(Workload workload) {
        ConvComputation conv = workload.conv();
        int width = conv.output().dim(2);
        boolean isEven = width % PIXELS == 0 && conv.channels() % BLOCK == 0;
        boolean isWhole =
                workload.rows().areContiguous() && workload.rows().parameters().isEmpty();
        int there = (isWhole ? conv.output().dim(1) : 1) * width / PIXELS;
        if (!isEven || there < LEAST_FOURS || !DspTile.waits(workload)) {
            return 1;
        }
        int bytes = DspWinogradInput.bytes(conv.input().dim(3));
        // The scratch of a whole layer is there beside all of its input and output, that of rows beside a few of them.
        return isWhole ? DspTile.most(workload, bytes, PIXELS) : Math.min(MOST_FOURS, MOST_BYTES / bytes);
    }

    /** The loops. */
    LayerLoops loops(Rows rows) {
        int block = fours > 1 ? Math.max(1, fours / perRow()) : 1;
        return new LayerLoops(body(rows), executedMacs(conv), block).sharing((long) PIXELS * fours);
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
        Expr out = line(row, rows, n, y);
        PixelBlocks.loop(row, conv.output().dim(2), PIXELS, (block, x) -> {
            block.loop("ky", WINDOW, (b, ky) -> factors(b, scratch, rows, n, new Pixel(y, x), ky));
            multiply(block, mul(add(out, x), conv.channels()));
        });
    }

    /** The first of four pixels. */
    private record Pixel(Expr y, Expr x) {}

    /** Numbers of fours of pixels. */
    private record Range(Expr begin, Expr end) {}

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
            BlockBuilder outer, Range range, Expr to, BiFunction<BlockBuilder, Expr, Pixel> pixel, Rows rows, Expr n) {
        boolean divides = sub(range.end, range.begin) instanceof Expr.IntImm count && count.value() % fours == 0;
        int bytes = DspWinogradInput.bytes(conv.input().dim(3));
        outer.loop("tile", range.begin, range.end, fours, (each, first) -> {
            Expr count = divides ? imm(fours) : each.let("count", min(imm(fours), sub(range.end, first)));
            each.loop("i", imm(0), mul(count, WINDOW), 1, (row, i) -> {
                Buffer window = row.mutableView("window", scratch, add(mul(div(i, imm(WINDOW)), bytes), factorsAt));
                Pixel at = pixel.apply(row, row.let("at", add(first, div(i, imm(WINDOW)))));
                factors(row, window, rows, n, at, row.let("ky", mod(i, imm(WINDOW))));
            });
            each.loop("block", conv.channels() / BLOCK, (block, c) -> {
                int words = (int) weights.elements() / (conv.channels() / BLOCK);
                int constants = BLOCK * kernel.epilogue().constants();
                Buffer bytesOfBlock = block.view("weights", weights, mul(c, words));
                Expr pairs = imm((words - constants) / 3);
                block.call(
                        DspWinogradWeights.transform(), List.of(scratch, bytesOfBlock), List.of(pairs, imm(constants)));
                Expr place = mul(add(to, mul(first, PIXELS)), conv.channels());
                Buffer out = block.mutableView("out", output, add(place, mul(c, BLOCK)));
                Buffer windows = block.view("windows", scratch, imm(factorsAt));
                call(block, List.of(windows, scratch, out), count);
            });
        });
    }

    /** Factors of four pixels of a row of the window; one that lies outside the input is padding. */
    private void factors(BlockBuilder row, Buffer window, Rows rows, Expr n, Pixel pixel, Expr ky) {
        int channels = conv.input().dim(3);
        Window w = conv.window();
        boolean isInside = w.padTop() + w.padBottom() == 0;
        Expr y = row.let("input_y", add(sub(pixel.y, imm(w.padTop())), ky));
        Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, y));
        Expr column = add(mul(line, conv.input().dim(2)), add(pixel.x, 1L - w.padLeft()));
        Expr offset = mul(column, channels);
        Expr outside = or(lt(y, imm(0)), ge(y, imm(conv.input().dim(1))));
        Expr from = row.let("from", isInside ? offset : select(outside, imm(-1), offset));
        Expr first = sub(from, imm(channels));
        Expr last = add(from, 4L * channels);
        Expr end = equal(pixel.x, imm(conv.output().dim(2) - PIXELS));
        Expr before = w.padLeft() == 0 ? first : select(equal(pixel.x, imm(0)), imm(-1), first);
        Expr above = isInside ? last : select(lt(from, imm(0)), imm(-1), last);
        Expr behind = w.padRight() == 0 ? above : select(end, imm(-1), above);
        Buffer place = row.mutableView("to", window, mul(ky, factors.rowBytes()));
        row.call(factors.kernel(), List.of(place, input, fill), List.of(from, before, behind));
    }

    /** All channels of four pixels. */
    private void multiply(BlockBuilder block, Expr pixel) {
        int whole = conv.channels() / BLOCK;
        call(block, List.of(scratch, weights, block.mutableView("out", output, pixel)), imm(whole));
        if (conv.channels() % BLOCK != 0) {
            Buffer rest = block.view("rest", weights, imm(weights.elements() / (whole + 1) * whole));
            Buffer out = block.mutableView("out_rest", output, add(pixel, conv.channels() - (long) BLOCK));
            call(block, List.of(scratch, rest, out), imm(1));
        }
    }

    private void call(BlockBuilder block, List<Buffer> buffers, Expr count) {
        List<Expr> scalars = new ArrayList<>(List.of(count));
        scalars.addAll(kernel.epilogue().arguments());
        block.call(kernel.kernel(), buffers, scalars);
    }
}
