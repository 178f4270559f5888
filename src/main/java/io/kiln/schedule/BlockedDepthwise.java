// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.BiasTable;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Stmt;
import java.util.List;
import java.util.Optional;

/**
 * Depthwise convolution for cores without SIMD: rows are copied with their padding, then each channel of a few
 * neighbouring pixels is computed at once, so that a weight is loaded once for all of them and windows share inputs:
 * by {@link DepthwiseBlock} where the core has one, else by {@link DepthwiseLoops}.
 *
 * <pre>
 * scratch: the rows under one row of windows, see {@link PaddedRows}
 * </pre>
 */
final class BlockedDepthwise {
    /** Windows with more taps than this are left to loops, to bound the code's size. */
    private static final int MOST_TAPS = 32;

    private final ConvComputation conv;
    private final int pixels;
    private final Pixels kernel;
    private final Buffer scratch;
    private final Buffer output;
    private final PaddedRows rows;

    /** Computes a block of pixels: inputs under the first window, and the place of the first pixel in the output. */
    private interface Pixels {
        void emit(BlockBuilder block, Buffer in, Expr out);
    }

    private BlockedDepthwise(ConvTask task, Optional<ScalarRescale> rescale) {
        this.conv = task.conv();
        Tables tables = task.tables();
        OperatorBuffers buffers = task.buffers();
        Buffer input = buffers.argument(0);
        this.output = buffers.output();
        Optional<DepthwiseBlock> assembled = rescale.flatMap(r -> assembled(conv, task.features(), r));
        this.pixels = assembled
                .map(DepthwiseBlock::pixels)
                .orElseGet(() -> task.isForSize() ? 1 : DepthwiseLoops.pixels(conv, task.features()));
        if (assembled.isPresent()) {
            Buffer weights = tables.add("weight", DType.INT8, weightsByChannel(conv));
            Buffer constants = rescale.orElseThrow().table(tables);
            Kernel block = assembled.get().kernel();
            this.kernel = (b, in, out) ->
                    b.call(block, List.of(in, weights, constants, b.mutableView("out", output, out)), List.of());
        } else {
            this.kernel = new DepthwiseLoops(task, pixels, output, rescale)::emit;
        }
        this.scratch = buffers.scratch(DType.INT8, PaddedRows.elements(conv));
        this.rows = new PaddedRows(conv, input, scratch, WordMoves.of(task.features()));
    }

    /** The schedule for a core without SIMD, where the rescaling is proven. */
    static Optional<ConvSchedule> schedule(ConvTask task) {
        return task.isForSize() || !suits(task)
                ? Optional.empty()
                : ScalarRescale.of(task.conv())
                        .map(r -> schedule(task, Optional.of(r), "no SIMD: pixels side by side share weights"));
    }

    /** The schedule for a core with SIMD, whatever the rescaling; the zero point must vanish in the bias. */
    static Optional<ConvSchedule> schedulePlain(ConvTask task) {
        ConvComputation conv = task.conv();
        boolean suits = task.features().hasDsp()
                && suits(conv)
                && !conv.isFloat()
                && conv.op().requantization().isPresent()
                && BiasTable.ofFilled(conv, new Tables("")).isFolded();
        String reason = "no DSP schedule for this shape or its rescaling: pixels side by side share weights";
        return suits ? Optional.of(schedule(task, Optional.empty(), reason)) : Optional.empty();
    }

    private static ConvSchedule schedule(ConvTask task, Optional<ScalarRescale> rescale, String reason) {
        BlockedDepthwise blocked = new BlockedDepthwise(task, rescale);
        String text = "depthwise_blocked(pixels=" + blocked.pixels + (task.packsWeights() ? ", weight_bits=4)" : ")");
        return new ConvSchedule(blocked.body(task.rows()), task.macs(), text, reason);
    }

    /** Whether core and shape fit, so far as the rescaling does. */
    static boolean suits(ConvTask task) {
        return BlockedSums.of(task).isPresent() && suits(task.conv());
    }

    /** Whether the shape fits: one output channel for each input channel, few taps. */
    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        return conv.depthwise()
                && conv.channels() == conv.input().dim(3)
                && conv.kernelZeroPoint() == 0
                && w.kernelH() * w.kernelW() <= MOST_TAPS;
    }

    /** The micro-kernel of a core that has one. */
    private static Optional<DepthwiseBlock> assembled(
            ConvComputation conv, CpuFeatures features, ScalarRescale rescale) {
        DepthwiseBlock.Assembly assembly;
        if (features.family() == CpuFeatures.Family.RISCV) {
            assembly = new DepthwiseRiscV();
        } else if (features.hasLongMultiply()) {
            assembly = new DepthwiseThumb();
        } else {
            return Optional.empty();
        }
        Window w = conv.window();
        int pixels = PixelBlocks.best(conv.output().dim(2), assembly.mostPixels(w.kernelW()));
        return Optional.of(new DepthwiseBlock(
                        w.kernelH(),
                        w.kernelW(),
                        pixels,
                        w.strideW(),
                        w.dilationW(),
                        conv.channels(),
                        PaddedRows.rowElements(conv),
                        rescale,
                        assembly))
                .filter(block -> assembly.mostPixels(w.kernelW()) > 0 && assembly.suits(block));
    }

    /** Weights in the order in which a kernel takes them, {@code [channel][ky][kx]}. */
    private static int[] weightsByChannel(ConvComputation conv) {
        int taps = conv.taps();
        int[] packed = new int[conv.channels() * taps];
        for (int i = 0; i < packed.length; i++) {
            int tap = i % taps;
            packed[i] = conv.tap(
                    i / taps, tap / conv.window().kernelW(), tap % conv.window().kernelW(), 0);
        }
        return packed;
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
                                long step = (long) conv.window().strideW() * conv.channels();
                                Buffer in = block.view("in", scratch, mul(x, step));
                                kernel.emit(block, in, block.let("pixel", mul(pixel, conv.channels())));
                            });
                        }));
        return body.build();
    }
}
