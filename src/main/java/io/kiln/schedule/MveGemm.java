// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.ir.op.Window;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Convolution and fully connected layer as a matrix product on MVE; see {@link MveGemmKernel} for registers.
 *
 * <pre>
 * 1x1         inputs are read where they lie: a pixel is a row of the matrix
 * windows     columns of the padded input are copied to scratch, so that every window is one run of bytes:
 *
 *   scratch   [column][ky][channel]    window of pixel x: columns x * stride to x * stride + kernel width
 *             |--- window of x ---|
 *                  |--- window of x + 1 ---|
 * weights     of each block of channels [16 products][channel][16], then its constants
 * </pre>
 *
 * <p>Padding is the zero point, so that the zero point can be folded into the bias.
 */
final class MveGemm {
    static final String REASON = "16 products to an instruction (MVE), exact in 32 bits";

    /** Copied columns are kept within this many bytes if at least two pixels fit. */
    private static final int MOST_SCRATCH = 2048;

    private final ConvComputation conv;
    private final Knobs knobs;
    private final MveRescale rescale;
    private final Buffer input;
    private final Buffer output;
    private final Buffer packed;
    private final MveGemmKernel gemm;
    private final OperatorBuffers buffers;

    /**
     * The schedule's explicit values.
     *
     * @param pixels computed together: 1 or 2
     * @param block channels computed together: 4 or 8
     * @param unroll steps of 16 products written out
     * @param chunk pixels whose columns are copied together; 0 where inputs are read in place
     */
    record Knobs(int pixels, int block, int unroll, int chunk) {
        String text() {
            return "mve_gemm(pixels=" + pixels + ", block=" + block + ", unroll=" + unroll
                    + (chunk == 0 ? "" : ", columns=" + chunk) + ")";
        }
    }

    private MveGemm(ConvComputation conv, Knobs knobs, MveRescale rescale, Tables tables, OperatorBuffers buffers) {
        this.conv = conv;
        this.knobs = knobs;
        this.rescale = rescale;
        this.buffers = buffers;
        this.input = buffers.argument(0);
        this.output = buffers.output();
        boolean copied = knobs.chunk() > 0;
        int depth = conv.taps();
        this.gemm = new MveGemmKernel(
                copied ? (depth + 15) / 16 * 16 : depth,
                knobs.pixels(),
                knobs.block(),
                rescale.hasNegatives(),
                rescale.hasLimits(),
                conv.channels() % knobs.block() != 0,
                knobs.unroll());
        this.packed = tables.add("packed", DType.INT8, pack());
    }

    /** Whether a convolution can run so on a CPU. */
    static boolean suits(ConvComputation conv, CpuFeatures features) {
        boolean dense = conv.groups() == 1 || conv.input().dim(3) == 1;
        boolean adjacent = conv.window().dilationW() == 1 || conv.window().kernelW() == 1;
        return features.hasMve() && dense && adjacent && MveRescale.of(conv).isPresent();
    }

    static Knobs defaultKnobs(ConvComputation conv, Optimize optimize) {
        int row =
                conv.output().dim(1) == 1 || isInPlace(conv) ? 1 : conv.output().dim(2);
        boolean single = conv.output().dim(1) * conv.output().dim(2) == 1 && row == 1;
        int block = single && conv.channels() > 4 ? 8 : 4;
        int unroll = optimize == Optimize.SIZE ? 1 : single ? 4 : 9;
        return new Knobs(single ? 1 : 2, block, unroll, isInPlace(conv) ? 0 : chunk(conv));
    }

    /** Whether windows are single pixels inside the input, so that nothing is copied. */
    private static boolean isInPlace(ConvComputation conv) {
        Window w = conv.window();
        return w.kernelH() == 1 && w.kernelW() == 1 && !w.isPadded();
    }

    private static int chunk(ConvComputation conv) {
        int width = conv.output().dim(2);
        int chunks = 1;
        while (columnBytes(conv, (width + chunks - 1) / chunks) > MOST_SCRATCH && width > 2 * chunks) {
            chunks++;
        }
        return (width + chunks - 1) / chunks;
    }

    private static int columns(ConvComputation conv, int pixels) {
        return (pixels - 1) * conv.window().strideW() + conv.window().kernelW();
    }

    private static int columnBytes(ConvComputation conv, int pixels) {
        return columns(conv, pixels) * conv.window().kernelH() * conv.input().dim(3);
    }

    static MveGemm of(ConvComputation conv, Optimize optimize, Tables tables, OperatorBuffers buffers) {
        MveRescale rescale = MveRescale.of(conv).orElseThrow();
        return new MveGemm(conv, defaultKnobs(conv, optimize), rescale, tables, buffers);
    }

    String text() {
        return knobs.text();
    }

    private Bytes pack() {
        int blocks = (conv.channels() + knobs.block() - 1) / knobs.block();
        ByteBuffer table = ByteBuffer.allocate(blocks * gemm.blockBytes()).order(ByteOrder.LITTLE_ENDIAN);
        byte[] weights = conv.weight().data().toArray();
        int column = conv.window().kernelH() * conv.input().dim(3);
        for (int first = 0; first < conv.channels(); first += knobs.block()) {
            for (int k = 0; k < gemm.steps() * MveGemmKernel.VECTOR; k += MveGemmKernel.VECTOR) {
                for (int o = first; o < first + knobs.block(); o++) {
                    for (int i = k; i < k + MveGemmKernel.VECTOR; i++) {
                        boolean there = o < conv.channels() && i < conv.taps();
                        int ky = i % column / conv.input().dim(3);
                        int c = i % conv.input().dim(3);
                        table.put(there ? weights[conv.weightIndex(o, ky, i / column, c)] : 0);
                    }
                }
            }
            rescale.putBlock(table, first, knobs.block());
        }
        return Bytes.wrap(table.array());
    }

    Stmt body(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        if (knobs.chunk() > 0) {
            Buffer scratch = buffers.scratch(DType.INT8, columnBytes(conv, knobs.chunk()) + MveGemmKernel.VECTOR - 1L);
            body.loop(
                    "n",
                    conv.output().dim(0),
                    (batch, n) -> lines(batch, rows, (row, y) -> chunks(row, rows, scratch, n, y)));
            return body.build();
        }
        Window w = conv.window();
        boolean flat = rows.areContiguous() && w.strideH() == 1 && w.strideW() == 1;
        body.loop("n", conv.output().dim(0), (batch, n) -> {
            if (flat) {
                Expr first = rows.firstLine(conv.output());
                Expr count = sub(rows.endLine(conv.output()), first);
                inPlace(batch, rows, n, first, mul(count, conv.output().dim(2)));
            } else {
                lines(
                        batch,
                        rows,
                        (row, y) -> inPlace(row, rows, n, y, imm(conv.output().dim(2))));
            }
        });
        return body.build();
    }

    private void lines(BlockBuilder block, Rows rows, BlockBuilder.LoopBody body) {
        block.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), 1, body);
    }

    private void inPlace(BlockBuilder block, Rows rows, Expr n, Expr y, Expr pixels) {
        int depth = conv.input().dim(3);
        Expr in = inputRow(rows, n, mul(y, conv.window().strideH()));
        Buffer x = block.view("x", input, in);
        multiply(
                block,
                x,
                outputRow(block, rows, n, y, imm(0)),
                pixels,
                (long) conv.window().strideW() * depth);
    }

    private Expr inputRow(Rows rows, Expr n, Expr row) {
        Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, row));
        return mul(line, (long) conv.input().dim(2) * conv.input().dim(3));
    }

    private Buffer outputRow(BlockBuilder block, Rows rows, Expr n, Expr y, Expr x) {
        Expr line = add(mul(n, conv.output().dim(1)), rows.outputLine(y));
        Expr pixel = add(mul(line, conv.output().dim(2)), x);
        return block.mutableView("out", output, mul(pixel, conv.channels()));
    }

    private void multiply(BlockBuilder block, Buffer x, Buffer out, Expr pixels, long step) {
        block.call(
                gemm.kernel(),
                List.of(x, packed, out),
                List.of(
                        pixels,
                        imm(step),
                        imm(conv.channels()),
                        imm(rescale.requantization().outputZeroPoint()),
                        imm(rescale.low()),
                        imm(rescale.high())));
    }

    /** One output row in chunks of pixels whose columns fit into scratch. */
    private void chunks(BlockBuilder block, Rows rows, Buffer scratch, Expr n, Expr y) {
        Window w = conv.window();
        int width = conv.output().dim(2);
        Expr top = block.let("top", sub(mul(y, w.strideH()), imm(w.padTop())));
        for (int x = 0; x < width; x += knobs.chunk()) {
            int pixels = Math.min(knobs.chunk(), width - x);
            BlockBuilder chunk = new BlockBuilder();
            copyColumns(chunk, rows, scratch, n, top, x * w.strideW() - w.padLeft(), columns(conv, pixels));
            long step = (long) w.strideW() * w.kernelH() * conv.input().dim(3);
            multiply(chunk, scratch, outputRow(chunk, rows, n, y, imm(x)), imm(pixels), step);
            block.add(chunk.build());
        }
    }

    /** Copies columns from {@code first} on, rows from {@code top} on; what lies outside the input is the zero point. */
    private void copyColumns(BlockBuilder block, Rows rows, Buffer scratch, Expr n, Expr top, int first, int count) {
        Window w = conv.window();
        int run = conv.input().dim(3);
        int column = w.kernelH() * run;
        int left = Math.min(count, Math.max(0, -first));
        int right =
                Math.min(count - left, Math.max(0, first + count - conv.input().dim(2)));
        int inside = count - left - right;
        fill(block, "left", scratch, 0, left * column);
        fill(block, "right", scratch, (count - right) * column, right * column);
        for (int ky = 0; ky < w.kernelH(); ky++) {
            Expr row = add(top, (long) ky * w.dilationH());
            int place = left * column + ky * run;
            boolean padded = w.padTop() + w.padBottom() > 0;
            if (inside == 0) {
                continue;
            }
            if (!padded) {
                spread(block, rows, scratch, n, row, ky, first + left, inside, place);
                continue;
            }
            Expr in = Exprs.and(
                    Exprs.gt(row, imm(-1)), Exprs.lt(row, imm(conv.input().dim(1))));
            int k = ky;
            block.ifThenElse(
                    in,
                    b -> spread(b, rows, scratch, n, row, k, first + left, inside, place),
                    b -> outside(b, scratch, k, inside, place));
        }
    }

    private void outside(BlockBuilder block, Buffer scratch, int ky, int count, int place) {
        int channels = conv.input().dim(3);
        for (int c = 0; c < channels; c += MveCopy.MOST_RUN) {
            Buffer to = block.mutableView("outside" + ky + (c == 0 ? "" : "_" + c), scratch, imm(place + c));
            block.call(
                    MveCopy.fillEvery(Math.min(channels - c, MveCopy.MOST_RUN)),
                    List.of(to),
                    List.of(
                            imm(conv.inputZeroPoint()),
                            imm(count),
                            imm((long) conv.window().kernelH() * channels)));
        }
    }

    private void fill(BlockBuilder block, String name, Buffer scratch, int place, int bytes) {
        if (bytes > 0) {
            Buffer to = block.mutableView(name, scratch, imm(place));
            block.call(MveCopy.FILL, List.of(to), List.of(imm(conv.inputZeroPoint()), imm(bytes)));
        }
    }

    private void spread(
            BlockBuilder block, Rows rows, Buffer scratch, Expr n, Expr row, int ky, int first, int count, int place) {
        int channels = conv.input().dim(3);
        Expr start = block.let("row" + ky, add(inputRow(rows, n, row), (long) first * channels));
        for (int c = 0; c < channels; c += MveCopy.MOST_RUN) {
            String part = ky + (c == 0 ? "" : "_" + c);
            Buffer from = block.view("from" + part, input, add(start, c));
            Buffer to = block.mutableView("to" + part, scratch, imm(place + c));
            block.call(
                    MveCopy.spread(Math.min(channels - c, MveCopy.MOST_RUN)),
                    List.of(from, to),
                    List.of(imm(count), imm(channels), imm((long) conv.window().kernelH() * channels)));
        }
    }
}
