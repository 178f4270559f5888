// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.MveEpilogue;
import io.kiln.schedule.convolution.MveRequantize;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Stmt;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Depthwise convolution with strides of 1 on MVE, two by two results at a time: the rows under two rows of windows are interleaved in scratch, and one
 * patch of a channel is multiplied by the weights of four windows; see {@link MveTileKernel}.
 *
 * <pre>
 * scratch   see {@link MveInterleaved}, for some pixels of two rows
 * weights   of each channel zero, three columns, zero if a patch is one vector, else [vector][result][word][row of the word], zeros where a window has no
 *           tap; then bias, multiplier and shift
 * </pre>
 *
 * <p>If an input channel has several output channels, the first ones of all input channels are computed, then the second ones, and so on. Padding has the
 * value of the zero point, which is folded into the bias. An odd last column is computed with the one before once more; an odd last
 * row alone.
 */
final class MveTileDepthwise {
    /** Rows, and columns, of the results that are computed together. */
    static final int TILE = 2;

    private static final int WORDS = 4;

    private final ConvComputation conv;
    private final MveRequantize rescale;
    private final Buffer input;
    private final Buffer output;
    private final Buffer scratch;
    private final Buffer offsets;
    private final List<Buffer> packed;
    private final MveTileKernel kernel;
    private final MveInterleaved inputs;

    /** Packs weights and reserves scratch. */
    MveTileDepthwise(ConvTask task, MveRequantize rescale) {
        Tables tables = task.tables();
        OperatorBuffers buffers = task.buffers();
        this.conv = task.conv();
        this.rescale = rescale;
        this.input = buffers.argument(0);
        this.output = buffers.output();
        this.inputs = new MveInterleaved(conv, TILE);
        this.scratch = buffers.scratch(DType.INT8, inputs.scratchBytes());
        this.kernel = new MveTileKernel(
                vectors(conv), inputs.isEven(WORDS), every(conv), MveEpilogue.of(rescale), rescale.low() == -128 && rescale.high() == 127);
        this.offsets = tables.add("offsets", DType.INT32, inputs.offsets(WORDS * kernel.vectors()));
        this.packed = new ArrayList<>();
        for (int m = 0; m < kernel.every(); m++) {
            packed.add(tables.add("packed" + (m == 0 ? "" : "_" + m), DType.INT32, pack(m)));
        }
    }

    /** Output channels of an input channel. */
    static int every(ConvComputation conv) {
        return conv.channels() / conv.input().dim(3);
    }

    /** Vectors under the windows of two by two results of a convolution. */
    static int vectors(ConvComputation conv) {
        return (new MveInterleaved(conv, TILE).words() + WORDS - 1) / WORDS;
    }

    /** The loops. */
    LayerLoops loops(Rows rows) {
        int lines = (conv.output().dim(1) + TILE - 1) / TILE;
        int columns = (conv.output().dim(2) + TILE - 1) / TILE;
        long patches = (long) conv.output().dim(0) * lines * columns * conv.channels();
        return new LayerLoops(body(rows), patches * TILE * TILE * 4 * WORDS * kernel.vectors(), TILE);
    }

    /** Those of the output channels with this index among those of an input channel. */
    private int[] pack(int first) {
        int size = kernel.weightWords() + kernel.constants();
        ByteBuffer table =
                ByteBuffer.allocate(conv.input().dim(3) * size * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int channel = first; channel < conv.channels(); channel += kernel.every()) {
            if (kernel.vectors() == 1) {
                table.putInt(0);
                put(table, channel, 0, 0);
                table.putInt(0);
            } else {
                for (int i = 0; i < kernel.vectors() * TILE * TILE; i++) {
                    put(table, channel, i / (TILE * TILE), i % (TILE * TILE));
                }
            }
            rescale.putBlock(table, channel, 1, 1);
            if (kernel.end().any()) {
                putShifts(table);
            }
        }
        int[] words = new int[table.capacity() / Integer.BYTES];
        table.flip().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(words);
        return words;
    }

    /** Shifts to the right and to the left in place of one, then 1 if there is one to the right. */
    private static void putShifts(ByteBuffer table) {
        int place = table.position() - Integer.BYTES;
        int shift = table.getInt(place);
        table.putInt(place, Math.min(shift, 0)).putInt(Math.max(shift, 0)).putInt(shift < 0 ? 1 : 0);
    }

    /** The weights of a vector for a result; the fourth column of a single vector is behind the first window, and no byte is written. */
    private void put(ByteBuffer table, int channel, int vector, int result) {
        int columns = kernel.vectors() == 1 ? WORDS - 1 : WORDS;
        for (int i = 0; i < 4 * columns; i++) {
            table.put((byte) inputs.weight(channel, 4 * WORDS * vector + i, result / TILE, result % TILE));
        }
    }

    private Stmt body(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        int width = conv.output().dim(2);
        Expr end = rows.endLine(conv.output());
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) -> batch.loop("y", rows.firstLine(conv.output()), end, TILE, (row, y) -> {
                    Expr lanes = row.let("lanes", select(lt(add(y, 1), end), imm(TILE * TILE), imm(TILE)));
                    Expr line = mul(n, conv.output().dim(1));
                    Expr first = row.let("first", add(line, rows.outputLine(y)));
                    Expr second = row.let("second", sub(add(line, rows.outputLine(add(y, 1))), first));
                    for (int x = 0; x < width; x += inputs.chunk()) {
                        int from = Math.min(x, width - TILE);
                        BlockBuilder part = new BlockBuilder();
                        int pixels = Math.min(inputs.chunk(), width - from);
                        inputs.copy(part, new MveInterleaved.Place(rows, input, scratch, n, y), from, pixels);
                        multiply(part, new Lines(first, second, lanes), from, pixels);
                        row.add(part.build());
                    }
                }));
        return body.build();
    }

    /** Lines of the output: the first one, how many lines behind it the second one is, and four if there is one, else two. */
    private record Lines(Expr first, Expr second, Expr lanes) {}

    /** Pixels of two rows of the output, from a column on. */
    private void multiply(BlockBuilder block, Lines lines, int column, int pixels) {
        long line = (long) conv.output().dim(2) * conv.channels();
        Expr place = block.let("place", add(mul(lines.first, line), (long) column * conv.channels()));
        for (int m = 0; m < kernel.every(); m++) {
            block.call(
                    kernel.kernel(),
                    List.of(
                            block.view("x" + m, scratch, imm(0)),
                            offsets,
                            packed.get(m),
                            block.mutableView("out" + m, output, add(place, m))),
                    List.of(
                            imm(pixels),
                            imm(conv.input().dim(3)),
                            imm(conv.channels()),
                            mul(lines.second, line),
                            lines.lanes,
                            imm(rescale.requantization().outputZeroPoint()),
                            imm(rescale.low()),
                            imm(rescale.high())));
        }
    }
}
