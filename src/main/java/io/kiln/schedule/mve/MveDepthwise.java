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
 * at most four words, which one instruction gathers and another multiplies and adds; see {@link MveDepthwiseKernel} for
 * registers.
 *
 * <pre>
 * scratch   [four rows of the window][column, padding included][channel][row]
 * weights   of each four channels [channel][word][row of the word], zeros where the window has no tap; then constants
 * </pre>
 *
 * <p>Padding has the value of the zero point, which is folded into the bias. Channels are processed in fours; the last
 * four overlap the ones before if channels are not a multiple of four.
 */
final class MveDepthwise {
    static final int WORDS = 4;

    private final ConvComputation conv;
    private final MveRescale rescale;
    private final Buffer input;
    private final Buffer output;
    private final Buffer scratch;
    private final Buffer offsets;
    private final List<Groups> groups = new ArrayList<>();
    private final MveDepthwiseKernel kernel;

    /** Number of consecutive groups of four channels. */
    private record Groups(int channel, int count, Buffer packed) {}

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
        this.scratch = buffers.scratch(DType.INT8, scratchBytes(conv));
        this.kernel = new MveDepthwiseKernel(!keepsWeights, MveEnd.of(rescale));
        this.offsets = tables.add("offsets", DType.INT32, offsets());
        int channels = conv.channels();
        groups.add(new Groups(0, channels / 4, tables.add("packed", DType.INT32, pack(0, channels / 4))));
        if (channels % 4 != 0) {
            int last = channels - 4;
            groups.add(new Groups(last, 1, tables.add("packed_last", DType.INT32, pack(last, 1))));
        }
    }

    /** The loops. */
    LayerLoops loops(Rows rows) {
        return new LayerLoops(body(rows), executedMacs());
    }

    /** Multiply-accumulates of the loops: 16 for each output, channels by fours. */
    private long executedMacs() {
        long channels = (conv.channels() + 3) / 4 * 4L;
        return conv.output().elements() / conv.channels() * channels * 4 * WORDS;
    }

    /** Fours of rows under a window. */
    static int bands(ConvComputation conv) {
        return (conv.window().kernelH() + 3) / 4;
    }

    private static int columns(ConvComputation conv) {
        Window w = conv.window();
        return (conv.output().dim(2) - 1) * w.strideW() + (w.kernelW() - 1) * w.dilationW() + 1;
    }

    private static int bandBytes(ConvComputation conv) {
        return columns(conv) * conv.channels() * 4;
    }

    /** Whole vectors are written, four at a time, the last one past the end of the band. */
    static int scratchBytes(ConvComputation conv) {
        return bands(conv) * bandBytes(conv) + 64;
    }

    /** Position of the words of a window, relative to its first column; missing words repeat the first. */
    private int[] offsets() {
        int[] places = new int[WORDS];
        Window w = conv.window();
        for (int k = 0; k < bands(conv) * w.kernelW(); k++) {
            places[k] = k / w.kernelW() * bandBytes(conv) + k % w.kernelW() * w.dilationW() * conv.channels() * 4;
        }
        return places;
    }

    private int[] pack(int first, int count) {
        ByteBuffer table =
                ByteBuffer.allocate(count * MveDepthwiseKernel.GROUP_WORDS * 4).order(ByteOrder.LITTLE_ENDIAN);
        Window w = conv.window();
        for (int c = first; c < first + 4 * count; c += 4) {
            for (int o = c; o < c + 4; o++) {
                for (int k = 0; k < 4 * WORDS; k++) {
                    int ky = k / 4 / w.kernelW() * 4 + k % 4;
                    table.put(ky < w.kernelH() ? (byte) conv.tap(o, ky, k / 4 % w.kernelW(), 0) : 0);
                }
            }
            rescale.putBlock(table, c, 4);
        }
        int[] words = new int[table.capacity() / 4];
        table.flip().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(words);
        return words;
    }

    private Stmt body(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        Window w = conv.window();
        int inside = Math.min(conv.input().dim(2), columns(conv) - w.padLeft());
        int column = conv.channels() * 4;
        body.loop("n", conv.output().dim(0), (batch, n) -> {
            batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), 1, (row, y) -> {
                for (int band = 0; band < bands(conv); band++) {
                    interleave(row, rows, n, y, band, inside);
                }
                for (int band = 0; band < bands(conv); band++) {
                    int start = band * bandBytes(conv);
                    int right = columns(conv) - w.padLeft() - inside;
                    MveCopy.fill(row, "left" + band, scratch, start, w.padLeft() * column, conv.inputZeroPoint());
                    int end = start + (w.padLeft() + inside) * column;
                    MveCopy.fill(row, "right" + band, scratch, end, right * column, conv.inputZeroPoint());
                }
                multiply(row, rows, n, y);
            });
        });
        return body.build();
    }

    private void interleave(BlockBuilder block, Rows rows, Expr n, Expr y, int band, int inside) {
        Window w = conv.window();
        int count = Math.min(4, w.kernelH() - 4 * band);
        List<Expr> scalars = new ArrayList<>();
        scalars.add(imm((long) inside * conv.channels()));
        scalars.add(imm(conv.inputZeroPoint()));
        for (int i = 0; i < count; i++) {
            int ky = 4 * band + i;
            Expr row = sub(mul(y, w.strideH()), imm(w.padTop() - (long) ky * w.dilationH()));
            Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, row));
            Expr place = mul(line, (long) conv.input().dim(2) * conv.channels());
            if (w.padTop() + w.padBottom() > 0) {
                Expr in = Exprs.and(
                        Exprs.gt(row, imm(-1)), Exprs.lt(row, imm(conv.input().dim(1))));
                place = Exprs.select(in, place, imm(-1));
            }
            scalars.add(block.let("row" + ky, place));
        }
        int start = band * bandBytes(conv) + w.padLeft() * conv.channels() * 4;
        Buffer to = block.mutableView("band" + band, scratch, imm(start));
        block.call(MveDepthwiseKernel.interleave(count), List.of(input, to), scalars);
    }

    private void multiply(BlockBuilder block, Rows rows, Expr n, Expr y) {
        Expr line = add(mul(n, conv.output().dim(1)), rows.outputLine(y));
        Expr place = block.let("place", mul(line, (long) conv.output().dim(2) * conv.channels()));
        for (Groups g : groups) {
            Buffer x = block.view("x" + g.channel(), scratch, imm(4L * g.channel()));
            Buffer out = block.mutableView("out" + g.channel(), output, add(place, g.channel()));
            block.call(
                    kernel.kernel(),
                    List.of(x, offsets, g.packed(), out),
                    List.of(
                            imm(conv.output().dim(2)),
                            imm((long) conv.window().strideW() * conv.channels() * 4),
                            imm(g.count()),
                            imm(conv.channels()),
                            imm(rescale.requantization().outputZeroPoint()),
                            imm(rescale.low()),
                            imm(rescale.high())));
        }
    }
}
