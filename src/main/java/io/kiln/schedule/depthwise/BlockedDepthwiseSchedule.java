// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.BlockedLoops;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.PaddedRows;
import io.kiln.schedule.parts.PixelBlocks;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.parts.WordMoves;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Stmt;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Depthwise convolutions by neighbouring pixels that share weights. */
public record BlockedDepthwiseSchedule(String name) implements Schedule<BlockedDepthwiseSchedule.Rescaling> {
    /** Windows with more taps than this use loops if size is optimized. */
    private static final int MOST_TAPS = 32;

    /** Larger windows are not written out in assembly. */
    private static final int MOST_ASSEMBLED_TAPS = 64;

    /** Multiply-accumulates for which a micro-kernel of about 400 bytes is worth its flash if size is optimized. */
    private static final long LARGE_MACS = 150_000;

    /**
     * The conversion of sums to output elements.
     *
     * @param proven the rescaling by one multiplication; empty for the reference's own steps
     */
    record Rescaling(Optional<ScalarRequantize> proven) {}
    /** With the proven rescaling on cores without SIMD, if there is one. */
    @Override
    public Optional<Rescaling> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean isLarge = conv.window().kernelH() * conv.window().kernelW() > MOST_TAPS;
        boolean fits = conv.depthwise() && conv.kernelZeroPoint() == 0 && !(isLarge && workload.isForSize());
        if (!workload.isPlainInt8() || !fits) {
            return Optional.empty();
        }
        boolean isScalar = !workload.features().hasDsp() && BlockedLoops.isFor(workload);
        Optional<ScalarRequantize> proven = isScalar ? BlockedLoops.rescale(workload) : Optional.empty();
        boolean isFolded = BiasTable.isFoldedIfFilled(conv);
        return Optional.of(new Rescaling(proven)).filter(r -> proven.isPresent() || isFolded);
    }

    /** Whether the shape fits one kernel for all layers: one output channel for each input channel, few taps. */
    static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        return conv.isOneToOne() && conv.kernelZeroPoint() == 0 && w.kernelH() * w.kernelW() <= MOST_TAPS;
    }

    @Override
    public Space space(Workload workload, Rescaling rescaling) {
        int most = core(workload.features())
                .filter(core -> rescaling.proven().isPresent())
                .map(core -> core.mostPixels(workload.conv().window()))
                .orElse(0);
        int width = workload.conv().output().dim(2);
        int[] pixels = IntStream.rangeClosed(1, Math.max(most, DepthwiseLoops.mostPixels(workload.features())))
                .filter(p -> p <= width)
                .toArray();
        Knob bits = rescaling.proven().isPresent() ? FourBitWeights.unpacked() : FourBitWeights.knob(workload.conv());
        return Space.of(name(), Knob.of("pixels", pixels), bits);
    }

    private static Optional<DepthwiseBlock.DepthwiseCore> core(CpuFeatures features) {
        if (features.family() == CpuFeatures.Family.RISCV) {
            return Optional.of(DepthwiseBlock.DepthwiseCore.RV32);
        }
        return Optional.of(
                features.hasLongMultiply()
                        ? DepthwiseBlock.DepthwiseCore.ARMV7_M
                        : DepthwiseBlock.DepthwiseCore.ARMV6_M);
    }

    /** The micro-kernel, if the core has one. */
    private static Optional<DepthwiseBlock> assembled(Workload workload, ScalarRequantize rescale, int pixels) {
        ConvComputation conv = workload.conv();
        Window w = conv.window();
        return core(workload.features())
                .filter(core -> w.kernelH() * w.kernelW() <= MOST_ASSEMBLED_TAPS)
                .map(core -> new DepthwiseBlock(
                        w,
                        pixels,
                        conv.input().dim(3),
                        conv.channels() / conv.input().dim(3),
                        PaddedRows.rowElements(conv),
                        rescale,
                        core))
                .filter(block ->
                        pixels <= block.core().mostPixels(w) && block.core().suits(block));
    }

    @Override
    public LayerLoops lower(ConvTask task, Rescaling rescaling, Configuration configuration) {
        int pixels = configuration.number("pixels");
        Optional<DepthwiseBlock> assembled = rescaling.proven().flatMap(r -> assembled(task.workload(), r, pixels));
        boolean isPacked = FourBitWeights.arePacked(configuration);
        return new Loops(task, rescaling.proven(), assembled, pixels, isPacked).loops(task);
    }

    /** On a core without SIMD, unless size is optimized. */
    public Optional<Choice<Rescaling>> choose(Workload workload) {
        if (workload.isForSize() || workload.features().hasDsp()) {
            return Optional.empty();
        }
        String reason = "no SIMD: pixels side by side share weights";
        return applies(workload).map(r -> new Choice<>(this, r, configuration(workload, r), reason));
    }

    /**
     * On Armv7-M without SIMD if size is optimized, for a large layer: the kernel for all layers takes twice the cycles. RISC-V's micro-kernels
     * take twice the flash.
     */
    public Optional<Choice<Rescaling>> chooseForSize(Workload workload) {
        CpuFeatures features = workload.features();
        boolean isCore =
                features.family() == CpuFeatures.Family.CORTEX_M && features.hasLongMultiply() && !features.hasDsp();
        if (!workload.isForSize() || !isCore || workload.macs() < LARGE_MACS) {
            return Optional.empty();
        }
        String reason = "size: a large layer has a kernel of its own";
        return applies(workload)
                .filter(r -> assembledPixels(workload, r).isPresent() && !FourBitWeights.pack(workload))
                .map(r -> new Choice<>(this, r, configuration(workload, r), reason));
    }

    /** On a core with SIMD. */
    public Optional<Choice<Rescaling>> chooseForDsp(Workload workload) {
        if (!workload.features().hasDsp()) {
            return Optional.empty();
        }
        String reason = "no DSP schedule for this shape or its rescaling: pixels side by side share weights";
        return applies(workload).map(r -> new Choice<>(this, r, configuration(workload, r), reason));
    }

    private Configuration configuration(Workload workload, Rescaling rescaling) {
        int width = workload.conv().output().dim(2);
        int inLoops =
                workload.isForSize() ? 1 : PixelBlocks.best(width, DepthwiseLoops.mostPixels(workload.features()));
        int pixels = assembledPixels(workload, rescaling).orElse(inLoops);
        return FourBitWeights.packed(Configuration.of(name()).with("pixels", pixels), workload);
    }

    /** Pixels of the micro-kernel's block for a layer, if the core has one that computes it. */
    private static Optional<Integer> assembledPixels(Workload workload, Rescaling rescaling) {
        int width = workload.conv().output().dim(2);
        int most = core(workload.features())
                .map(core -> core.mostPixels(workload.conv().window()))
                .orElse(0);
        return rescaling
                .proven()
                .flatMap(r -> IntStream.iterate(most, m -> m > 0, m -> m - 1)
                        .map(m -> PixelBlocks.best(width, m))
                        .boxed()
                        .filter(pixels -> assembled(workload, r, pixels).isPresent())
                        .findFirst());
    }

    /**
     * Depthwise convolution for cores without SIMD: rows are copied with their padding, then each channel of a few
     * neighbouring pixels is computed at once, so that a weight is loaded once for all of them and windows share inputs: by
     * {@link DepthwiseBlock} if the core has one, otherwise by {@link DepthwiseLoops}.
     *
     * <pre>
     * scratch: the rows under one row of windows, see {@link PaddedRows}
     * </pre>
     */
    static final class Loops {
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
        Loops(
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
            range.eachLine(body, conv.output(), (row, n, y) -> {
                rows.copy(row, range, n, y);
                Expr line = add(mul(n, conv.output().dim(1)), range.outputLine(y));
                PixelBlocks.loop(row, conv.output().dim(2), pixels, (block, x) -> {
                    Expr pixel = add(mul(line, conv.output().dim(2)), x);
                    long step = (long) conv.window().strideW() * conv.input().dim(3);
                    Buffer in = block.view("in", scratch, mul(x, step));
                    kernel.emit(block, in, block.let("pixel", mul(pixel, conv.channels())));
                });
            });
            return body.build();
        }
    }
}
