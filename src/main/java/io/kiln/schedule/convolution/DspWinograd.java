// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.equal;
import static io.kiln.tir.Exprs.imm;
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
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

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
    private final DspWinogradInput factors;
    private final DspWinogradKernel kernel;
    private final Buffer input;
    private final Buffer output;
    private final Buffer fill;
    private final Buffer weights;
    private final Buffer scratch;

    /**
     * Packs weights and reserves scratch.
     *
     * @param unroll largest number of unrolled steps
     * @param isShort whether code is {@linkplain io.kiln.schedule.space.Space#SHORT short}
     * @param isPaired see {@link DspConvShape}
     */
    DspWinograd(ConvTask task, DspRequantize rescale, int unroll, boolean isShort, boolean isPaired) {
        Tables tables = task.tables();
        OperatorBuffers buffers = task.buffers();
        this.conv = task.conv();
        int channels = conv.input().dim(3);
        this.factors = new DspWinogradInput(channels, isShort, isPaired);
        this.kernel = new DspWinogradKernel(
                DspWinogradInput.filled(channels), conv.channels(), DspEpilogue.of(rescale), unroll, isShort, isPaired);
        this.input = buffers.argument(0);
        this.output = buffers.output();
        byte[] padding = new byte[PIXELS * channels];
        Arrays.fill(padding, (byte) conv.inputZeroPoint());
        this.fill = conv.window().isPadded() ? tables.add("padding", DType.INT8, Bytes.wrap(padding)) : input;
        this.weights = tables.add("weight", DType.INT32, DspWinogradWeights.pack(conv, rescale));
        this.scratch = buffers.scratch(DType.INT8, factors.bytes());
    }

    /** The loops. */
    LayerLoops loops(Rows rows) {
        return new LayerLoops(body(rows), executedMacs(conv)).sharing(PIXELS);
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
        int width = conv.output().dim(2);
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) ->
                        batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), 1, (row, y) -> {
                            TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(conv.window(), conv.input()));
                            fillOutside(row, ky);
                            Expr line = add(mul(n, conv.output().dim(1)), rows.outputLine(y));
                            Expr out = row.let("line", mul(line, width));
                            PixelBlocks.loop(row, width, PIXELS, (block, x) -> {
                                inside(block, rows, n, ky, x);
                                multiply(block, mul(add(out, x), conv.channels()));
                            });
                        }));
        return body.build();
    }

    /** Rows of the windows that lie outside the input are the same for a whole line. */
    private void fillOutside(BlockBuilder block, TapRange ky) {
        if (!ky.isWhole()) {
            block.loop("above", imm(0), ky.begin(), 1, (b, k) -> factors(b, k, imm(-1), imm(-1), imm(-1)));
            block.loop("below", ky.end(), imm(3), 1, (b, k) -> factors(b, k, imm(-1), imm(-1), imm(-1)));
        }
    }

    /** Factors of the rows inside the input. */
    private void inside(BlockBuilder block, Rows rows, Expr n, TapRange ky, Expr x) {
        int channels = conv.input().dim(3);
        Window w = conv.window();
        block.loop("ky", ky.begin(), ky.end(), 1, (row, k) -> {
            Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, add(ky.origin(), k)));
            Expr column = add(mul(line, conv.input().dim(2)), add(x, 1L - w.padLeft()));
            Expr from = row.let("from", mul(column, channels));
            Expr first = sub(from, imm(channels));
            Expr last = add(from, 4L * channels);
            Expr end = imm(conv.output().dim(2) - PIXELS);
            factors(
                    row,
                    k,
                    from,
                    w.padLeft() == 0 ? first : select(equal(x, imm(0)), imm(-1), first),
                    w.padRight() == 0 ? last : select(equal(x, end), imm(-1), last));
        });
    }

    private void factors(BlockBuilder block, Expr ky, Expr from, Expr first, Expr last) {
        Buffer to = block.mutableView("to", scratch, mul(ky, factors.rowBytes()));
        block.call(factors.kernel(), List.of(to, input, fill), List.of(from, first, last));
    }

    /** All channels of four pixels. */
    private void multiply(BlockBuilder block, Expr pixel) {
        int whole = conv.channels() / BLOCK;
        call(block, "", pixel, weights, whole);
        if (conv.channels() % BLOCK != 0) {
            Buffer rest = block.view("rest", weights, imm(weights.elements() / (whole + 1) * whole));
            call(block, "_rest", add(pixel, conv.channels() - (long) BLOCK), rest, 1);
        }
    }

    private void call(BlockBuilder block, String suffix, Expr to, Buffer w, int blocks) {
        Buffer out = block.mutableView("out" + suffix, output, to);
        List<Expr> scalars = new ArrayList<>(List.of(imm(blocks)));
        scalars.addAll(kernel.epilogue().arguments());
        block.call(kernel.kernel(), List.of(scratch, w, out), scalars);
    }
}
