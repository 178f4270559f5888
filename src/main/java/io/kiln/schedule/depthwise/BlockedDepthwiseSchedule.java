// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.BlockedLoops;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.PaddedRows;
import io.kiln.schedule.parts.PixelBlocks;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import java.util.Optional;
import java.util.stream.IntStream;

/** Depthwise convolutions by neighbouring pixels that share weights, by {@link BlockedDepthwise}. */
public final class BlockedDepthwiseSchedule implements Schedule<BlockedDepthwiseSchedule.Rescaling> {
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

    @Override
    public String name() {
        return "depthwise_blocked";
    }

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
        return conv.depthwise()
                && conv.channels() == conv.input().dim(3)
                && conv.kernelZeroPoint() == 0
                && w.kernelH() * w.kernelW() <= MOST_TAPS;
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

    private static Optional<DepthwiseCore> core(CpuFeatures features) {
        if (features.family() == CpuFeatures.Family.RISCV) {
            return Optional.of(DepthwiseCore.RV32);
        }
        return Optional.of(features.hasLongMultiply() ? DepthwiseCore.ARMV7_M : DepthwiseCore.ARMV6_M);
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
        return new BlockedDepthwise(task, rescaling.proven(), assembled, pixels, isPacked).loops(task);
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
}
