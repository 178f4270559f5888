// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Depthwise convolution on MVE: the rows under a window are interleaved in scratch, so that the window of a channel is
 * a few words, of which one instruction gathers four and another multiplies and adds them; see {@link MveDepthwiseKernel} for
 * registers.
 *
 * <pre>
 * scratch   [four rows of the window][column, padding included][channel][row], for some pixels of a row
 * weights   of each four channels [four words][channel][word][row of the word], zeros where the window has no tap; then constants
 * </pre>
 *
 * <p>Padding has the value of the zero point, which is folded into the bias. Channels are processed in fours; the last
 * four overlap the ones before if channels are not a multiple of four. If an input channel has several output channels, the
 * first ones of all input channels are computed, then the second ones, and so on.
 */
final class MveDepthwise {
    static final int WORDS = 4;

    /** Rows of more bytes are processed in parts. */
    private static final int MOST_SCRATCH = 16 * 1024;

    private final ConvComputation conv;
    private final MveRescale rescale;
    private final Buffer input;
    private final Buffer output;
    private final Buffer scratch;
    private final Buffer offsets;
    private final List<Groups> groups = new ArrayList<>();
    private final MveDepthwiseKernel kernel;
    private final MveDepthwiseKernel.Shape shape;
    private final int chunk;

    /** Number of consecutive groups of four input channels, and which of their output channels. */
    private record Groups(int channel, int output, int count, Buffer packed) {}

    /**
     * Packs weights and reserves scratch.
     *
     * @param keepsWeights whether weights stay in registers for a row of pixels
     */
    MveDepthwise(ConvTask task, MveRescale rescale, boolean keepsWeights) {
        Tables tables = task.tables();
        OperatorBuffers buffers = task.buffers();
        this.conv = task.conv();
        this.rescale = rescale;
        this.input = buffers.argument(0);
        this.output = buffers.output();
        this.chunk = chunk(conv);
        this.scratch = buffers.scratch(DType.INT8, scratchBytes(conv));
        this.shape = shape(conv);
        this.kernel = new MveDepthwiseKernel(!keepsWeights, shape, MveEnd.of(rescale));
        this.offsets = tables.add("offsets", DType.INT32, offsets());
        int channels = conv.input().dim(3);
        for (int m = 0; m < shape.multiplier(); m++) {
            String suffix = m == 0 ? "" : "_" + m;
            int whole = Math.max(1, channels / 4);
            groups.add(new Groups(0, m, whole, tables.add("packed" + suffix, DType.INT32, pack(0, m, whole))));
            if (channels > 4 && channels % 4 != 0) {
                int last = channels - 4;
                Buffer packed = tables.add("packed_last" + suffix, DType.INT32, pack(last, m, 1));
                groups.add(new Groups(last, m, 1, packed));
            }
        }
    }

    /** Windows and channels of a convolution. */
    static MveDepthwiseKernel.Shape shape(ConvComputation conv) {
        int passes = (bands(conv) * conv.window().kernelW() + WORDS - 1) / WORDS;
        int channels = conv.input().dim(3);
        return new MveDepthwiseKernel.Shape(passes, conv.channels() / channels, Math.min(4, channels));
    }

    /** The loops. */
    LayerLoops loops(Rows rows) {
        return new LayerLoops(body(rows), executedMacs());
    }

    /** Multiply-accumulates of the loops: 16 in a pass for each output, channels by fours. */
    private long executedMacs() {
        long channels = (conv.input().dim(3) + 3) / 4 * 4L * shape.multiplier();
        return conv.output().elements() / conv.channels() * channels * 4 * WORDS * shape.passes();
    }

    /** Fours of rows under a window. */
    static int bands(ConvComputation conv) {
        return (conv.window().kernelH() + 3) / 4;
    }

    /** Pixels of a row whose inputs are in scratch together: as many as fit, in equal chunks. */
    static int chunk(ConvComputation conv) {
        int width = conv.output().dim(2);
        int chunks = 1;
        while (bytes(conv, (width + chunks - 1) / chunks) > MOST_SCRATCH && chunks < width) {
            chunks++;
        }
        return (width + chunks - 1) / chunks;
    }

    private static int bandBytes(ConvComputation conv, int pixels) {
        return MveGather.columns(conv, pixels) * conv.input().dim(3) * 4;
    }

    private static int bytes(ConvComputation conv, int pixels) {
        return bands(conv) * bandBytes(conv, pixels);
    }

    /** Whole vectors are written, four at a time, the last one past the end of the band. */
    private static int scratchBytes(ConvComputation conv) {
        return bytes(conv, chunk(conv)) + 64;
    }

    /** Position of the words of a window, relative to its first column; missing words repeat the first. */
    private int[] offsets() {
        int[] places = new int[WORDS * shape.passes()];
        Window w = conv.window();
        for (int k = 0; k < bands(conv) * w.kernelW(); k++) {
            int column = k % w.kernelW() * w.dilationW();
            places[k] = k / w.kernelW() * bandBytes(conv, chunk) + column * conv.input().dim(3) * 4;
        }
        return places;
    }

    private int[] pack(int first, int output, int count) {
        ByteBuffer table = ByteBuffer.allocate(count * shape.groupWords() * 4).order(ByteOrder.LITTLE_ENDIAN);
        int every = shape.multiplier();
        for (int c = first; c < first + 4 * count; c += 4) {
            for (int i = 0; i < 4 * 4 * WORDS * shape.passes(); i++) {
                int channel = (c + i / (4 * WORDS) % 4) * every + output;
                table.put((byte) tap(channel, i / (16 * WORDS) * 4 * WORDS + i % (4 * WORDS)));
            }
            rescale.putBlock(table, c * every + output, 4, every);
        }
        int[] words = new int[table.capacity() / 4];
        table.flip().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(words);
        return words;
    }

    /** The weight of byte {@code k} of a window; 0 where there is no tap or channel. */
    private int tap(int channel, int k) {
        Window w = conv.window();
        int ky = k / 4 / w.kernelW() * 4 + k % 4;
        return channel < conv.channels() && ky < w.kernelH() ? conv.tap(channel, ky, k / 4 % w.kernelW(), 0) : 0;
    }

    private Stmt body(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        int width = conv.output().dim(2);
        body.loop("n", conv.output().dim(0), (batch, n) -> {
            batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), 1, (row, y) -> {
                for (int x = 0; x < width; x += chunk) {
                    BlockBuilder part = new BlockBuilder();
                    chunk(part, new Line(rows, n, y), x, Math.min(chunk, width - x));
                    row.add(part.build());
                }
            });
        });
        return body.build();
    }

    /** A row of the output. */
    private record Line(Rows rows, Expr n, Expr y) {}

    /** Pixels of a row, from {@code x} on. */
    private void chunk(BlockBuilder block, Line line, int x, int pixels) {
        Window w = conv.window();
        int first = x * w.strideW() - w.padLeft();
        int columns = MveGather.columns(conv, pixels);
        int left = Math.min(columns, Math.max(0, -first));
        int inside = Math.max(0, Math.min(columns - left, conv.input().dim(2) - first - left));
        int column = conv.input().dim(3) * 4;
        for (int band = 0; band < (inside > 0 ? bands(conv) : 0); band++) {
            interleave(block, line, band, new Columns(first + left, left, inside));
        }
        for (int band = 0; band < bands(conv); band++) {
            int start = band * bandBytes(conv, chunk);
            int right = columns - left - inside;
            MveCopy.fill(block, "left" + band, scratch, start, left * column, conv.inputZeroPoint());
            int end = start + (left + inside) * column;
            MveCopy.fill(block, "right" + band, scratch, end, right * column, conv.inputZeroPoint());
        }
        multiply(block, line, x, pixels);
    }

    /** Columns of the input that are copied, and which column of scratch the first one becomes. */
    private record Columns(int first, int to, int count) {}

    private void interleave(BlockBuilder block, Line at, int band, Columns columns) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        int count = Math.min(4, w.kernelH() - 4 * band);
        List<Expr> scalars = new ArrayList<>();
        scalars.add(imm((long) columns.count * channels));
        scalars.add(imm(conv.inputZeroPoint()));
        for (int i = 0; i < count; i++) {
            int ky = 4 * band + i;
            Expr row = sub(mul(at.y, w.strideH()), imm(w.padTop() - (long) ky * w.dilationH()));
            Expr line = add(mul(at.n, conv.input().dim(1)), at.rows.inputLine(0, row));
            Expr place = add(mul(line, (long) conv.input().dim(2) * channels), (long) columns.first * channels);
            if (w.padTop() + w.padBottom() > 0) {
                place = Exprs.select(MveGather.isInside(conv, row), place, imm(-1));
            }
            scalars.add(block.let("row" + ky, place));
        }
        int start = band * bandBytes(conv, chunk) + columns.to * channels * 4;
        Buffer to = block.mutableView("band" + band, scratch, imm(start));
        block.call(MveDepthwiseKernel.interleave(count), List.of(input, to), scalars);
    }

    private void multiply(BlockBuilder block, Line at, int first, int pixels) {
        Expr line = add(mul(at.n, conv.output().dim(1)), at.rows.outputLine(at.y));
        Expr pixel = add(mul(line, conv.output().dim(2)), first);
        Expr place = block.let("place", mul(pixel, conv.channels()));
        for (Groups g : groups) {
            int channel = g.channel() * shape.multiplier() + g.output();
            Buffer x = block.view("x" + channel, scratch, imm(4L * g.channel()));
            Buffer out = block.mutableView("out" + channel, output, add(place, channel));
            block.call(
                    kernel.kernel(),
                    List.of(x, offsets, g.packed(), out),
                    List.of(
                            imm(pixels),
                            imm((long) conv.window().strideW() * conv.input().dim(3) * 4),
                            imm(g.count()),
                            imm(conv.channels()),
                            imm(rescale.requantization().outputZeroPoint()),
                            imm(rescale.low()),
                            imm(rescale.high())));
        }
    }
}
