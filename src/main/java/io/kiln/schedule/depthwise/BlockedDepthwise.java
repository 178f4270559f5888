// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.PaddedRows;
import io.kiln.schedule.parts.PixelBlocks;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.parts.WordMoves;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Stmt;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Depthwise convolution for cores without SIMD: rows are copied with their padding, then each channel of a few
 * neighbouring pixels is computed at once, so that a weight is loaded once for all of them and windows share inputs: by
 * {@link DepthwiseBlock} if the core has one, otherwise by {@link DepthwiseLoops}.
 *
 * <pre>
 * scratch: the rows under one row of windows, see {@link PaddedRows}
 * </pre>
 */
final class BlockedDepthwise {
    private final ConvComputation conv;
    private final int pixels;
    private final Pixels kernel;
    private final Buffer scratch;
    private final Buffer output;
    private final PaddedRows rows;

    /**
     * Computes a block of pixels, given the inputs under the first window and the position of the first pixel in the
     * output.
     */
    private interface Pixels {
        void emit(BlockBuilder block, Buffer in, Expr out);
    }

    /**
     * Makes tables and reserves scratch.
     *
     * @param rescale the rescaling, if it is proven
     * @param assembled the micro-kernel, if the core has one
     * @param pixels number of pixels computed at once
     * @param isPacked whether weights are packed two to a byte, which no micro-kernel reads
     */
    BlockedDepthwise(
            ConvTask task,
            Optional<ScalarRequantize> rescale,
            Optional<DepthwiseBlock> assembled,
            int pixels,
            boolean isPacked) {
        this.conv = task.conv();
        Tables tables = task.tables();
        OperatorBuffers buffers = task.buffers();
        Buffer input = buffers.argument(0);
        this.output = buffers.output();
        this.pixels = pixels;
        if (assembled.isPresent()) {
            this.kernel = assembled(assembled.get(), tables);
        } else {
            this.kernel = new DepthwiseLoops(task, pixels, rescale, isPacked)::emit;
        }
        this.scratch = buffers.scratch(DType.INT8, PaddedRows.elements(conv));
        this.rows = new PaddedRows(conv, input, scratch, WordMoves.of(task.features()));
    }

    /** The loops. */
    LayerLoops loops(ConvTask task) {
        return new LayerLoops(body(task.rows()), task.workload().macs()).sharing(pixels);
    }

    /** Calls of the micro-kernel: for the first output channels of all input channels, then for the second ones. */
    private Pixels assembled(DepthwiseBlock block, Tables tables) {
        int[] channels = IntStream.range(0, conv.channels())
                .map(i -> i % block.channels() * block.multiplier() + i / block.channels())
                .toArray();
        Buffer weights = tables.add("weight", DType.INT8, weights(channels));
        Buffer constants = block.rescale().table(tables, channels);
        Kernel kernel = block.kernel();
        if (block.multiplier() == 1) {
            return (b, in, out) ->
                    b.call(kernel, List.of(in, weights, constants, b.mutableView("out", output, out)), List.of());
        }
        return (b, in, out) -> b.loop("m", block.multiplier(), (each, m) -> {
            Buffer w = each.view("w", weights, mul(m, (long) block.channels() * conv.taps()));
            Buffer c = each.view(
                    "c",
                    constants,
                    mul(
                            m,
                            (long) block.channels()
                                    * block.rescale().correction().constants()));
            each.call(kernel, List.of(in, w, c, each.mutableView("out", output, add(out, m))), List.of());
        });
    }

    /** Weights of channels, {@code [channel][ky][kx]}. */
    private int[] weights(int[] channels) {
        return Arrays.stream(channels)
                .flatMap(channel -> Arrays.stream(conv.taps(channel)))
                .toArray();
    }

    private Stmt body(Rows range) {
        BlockBuilder body = new BlockBuilder();
        rows.fillSides(body);
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) ->
                        batch.loop("y", range.firstLine(conv.output()), range.endLine(conv.output()), 1, (row, y) -> {
                            rows.copy(row, range, n, y);
                            Expr line = add(mul(n, conv.output().dim(1)), range.outputLine(y));
                            PixelBlocks.loop(row, conv.output().dim(2), pixels, (block, x) -> {
                                Expr pixel = add(mul(line, conv.output().dim(2)), x);
                                long step = (long) conv.window().strideW()
                                        * conv.input().dim(3);
                                Buffer in = block.view("in", scratch, mul(x, step));
                                kernel.emit(block, in, block.let("pixel", mul(pixel, conv.channels())));
                            });
                        }));
        return body.build();
    }
}
