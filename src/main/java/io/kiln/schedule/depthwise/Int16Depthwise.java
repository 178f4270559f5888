// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.PixelTile;
import io.kiln.schedule.parts.WindowRows;
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
 * Depthwise convolutions of int16 data by a {@link Int16DepthwiseKernel}: some neighbouring pixels of all channels in one call, a
 * block of channels after the other. Where their number is not a multiple of the block's, a separate call computes the last
 * ones, some of them again.
 *
 * <pre>
 * table: per block of channels: biases, weights [ky][kx][channel], multipliers
 * memory: no scratch
 * </pre>
 */
final class Int16Depthwise {
    private final ConvComputation conv;
    private final Int16DepthwiseKernel kernel;
    private final Int16DepthwiseLayer layer;
    private final int pixels;
    private final Buffer input;
    private final Buffer output;
    private final Buffer table;

    /**
     * Makes the table.
     *
     * @param pixels most pixels computed together
     */
    Int16Depthwise(ConvTask task, Int16DepthwiseKernel kernel, Int16DepthwiseLayer layer, int pixels) {
        this.conv = task.conv();
        this.kernel = kernel;
        this.layer = layer;
        this.pixels = pixels;
        this.input = task.buffers().argument(0);
        this.output = task.buffers().output();
        this.table = task.tables().add("table", DType.INT32, packed());
    }

    /** First channels of all blocks. */
    private List<Integer> blocks() {
        int size = kernel.channels();
        List<Integer> first = new ArrayList<>();
        for (int block = 0; block < whole(); block++) {
            first.add(block * size);
        }
        if (whole() * size < conv.channels()) {
            first.add(Math.max(0, conv.channels() - size));
        }
        return first;
    }

    /** Number of whole blocks of channels. */
    private int whole() {
        return conv.channels() / kernel.channels();
    }

    private Bytes packed() {
        int taps = conv.taps();
        int words = kernel.blockWords(taps);
        List<Integer> blocks = blocks();
        ByteBuffer data =
                ByteBuffer.allocate(blocks.size() * words * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int first : blocks) {
            putEach(data, layer.biases(), first);
            int weights = data.position();
            for (int i = 0; i < taps * kernel.channels(); i++) {
                int o = first + i % kernel.channels();
                int tap = i / kernel.channels();
                kernel.put(data, o < conv.channels() ? weight(o, tap) : 0);
            }
            data.position(weights + kernel.weightWords(taps) * Integer.BYTES);
            putEach(data, layer.multipliers(), first);
        }
        return Bytes.wrap(data.array());
    }

    private int weight(int o, int tap) {
        int width = conv.window().kernelW();
        return conv.tap(o, tap / width, tap % width, 0);
    }

    private void putEach(ByteBuffer data, List<Integer> values, int first) {
        for (int i = 0; i < kernel.channels(); i++) {
            int o = first + kernel.order(i);
            data.putInt(o < values.size() ? values.get(o) : 0);
        }
    }

    /** The loops. */
    LayerLoops loops(Rows rows) {
        return new LayerLoops(body(rows), conv.macsInside()).sharing(pixels);
    }

    private Stmt body(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        Expr begin = rows.firstLine(conv.output());
        Expr end = rows.endLine(conv.output());
        List<PixelTile.Run> runs = PixelTile.row(conv, pixels);
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) -> batch.loop("y", begin, end, 1, (row, y) -> {
                    WindowRows line = WindowRows.of(row, conv, rows, n, y);
                    for (PixelTile.Run run : runs) {
                        int width = run.tile().pixels();
                        int last = run.x() + run.count() * width;
                        row.loop("x", imm(run.x()), imm(last), width, (b, x) -> tile(b, line, run.tile(), x));
                    }
                }));
        return body.build();
    }

    /** Neighbouring pixels from column {@code x} on. */
    private void tile(BlockBuilder block, WindowRows line, PixelTile tile, Expr x) {
        Window w = conv.window();
        int channels = conv.channels();
        Expr column = add(mul(x, w.strideW()), (long) tile.begin() - w.padLeft());
        Expr in = block.let("first", add(line.in(), mul(column, channels)));
        Expr out = block.let("pixel", add(line.out(), mul(x, channels)));
        int size = kernel.channels();
        int first = Math.max(0, channels - size);
        if (whole() > 0) {
            call(block, line, tile, new Blocks("", in, out, 0, whole()));
        }
        if (whole() * size < channels) {
            call(block, line, tile, new Blocks("_rest", add(in, first), add(out, first), whole(), 1));
        }
    }

    /** Some blocks of channels: where they begin in the input, in the output and among all blocks. */
    private record Blocks(String suffix, Expr in, Expr out, int first, int count) {}

    private void call(BlockBuilder block, WindowRows line, PixelTile tile, Blocks blocks) {
        Window w = conv.window();
        int row = conv.input().dim(2) * conv.channels();
        Int16DepthwiseKernel.Place place = new Int16DepthwiseKernel.Place(
                tile, w.kernelH(), conv.channels(), w.dilationH() * row, line.wrap() * row, layer.isLimited());
        List<Expr> scalars = new ArrayList<>(
                List.of(sub(line.ky().end(), line.ky().begin()), line.ky().begin(), imm(blocks.count)));
        if (line.wrap() > 0) {
            scalars.add(line.before());
        }
        if (layer.isLimited()) {
            scalars.add(imm(layer.limits().low()));
            scalars.add(imm(layer.limits().high()));
        }
        block.call(
                kernel.kernel(place),
                List.of(
                        block.view("in" + blocks.suffix, input, blocks.in),
                        block.view(
                                "t" + blocks.suffix, table, imm((long) blocks.first * kernel.blockWords(conv.taps()))),
                        block.mutableView("out" + blocks.suffix, output, blocks.out)),
                scalars);
    }
}
