// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.Optional;

/** Convolutions and dense layers on MVE, by {@link MveGemm}. */
public final class MveGemmSchedule implements Schedule<MveRequantize> {
    /** Whether the loads of a step are between the multiplications of the one before. */
    private static final String PIPELINED = "pipelined";

    /** More unrolled steps than there are would be the same loop. */
    private static final int[] MANY = {1, 4, 9, 20, 40};

    @Override
    public String name() {
        return "mve_gemm";
    }

    @Override
    public Optional<MveRequantize> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean dense = conv.groups() == 1 || conv.input().dim(3) == 1;
        return workload.features().hasMve() && workload.isPlainInt8() && dense
                ? MveRequantize.of(conv)
                : Optional.empty();
    }

    @Override
    public Space space(Workload workload, MveRequantize rescale) {
        ConvComputation conv = workload.conv();
        Knob pixels = Knob.of("pixels", 1, 2);
        Knob block = Knob.of("block", 4, 8);
        int steps = (conv.taps() + MveGemmKernel.VECTOR - 1) / MveGemmKernel.VECTOR;
        Knob unroll = Knob.of("unroll", steps > 20 ? MANY : steps > 9 ? new int[] {1, 4, 9, 20} : new int[] {1, 4, 9});
        Knob kept = canKeep(conv, rescale) ? Knob.flag("kept_weights", false, true) : Knob.flag("kept_weights", false);
        Space space = isInPlace(conv)
                ? Space.of(name(), pixels, block, unroll, kept, pipelined(conv), FourBitWeights.knob(conv))
                : Space.of(
                        name(),
                        pixels,
                        block,
                        unroll,
                        kept,
                        gathered(conv),
                        pipelined(conv),
                        FourBitWeights.knob(conv));
        return space.where(c -> !c.isOn(PIPELINED) || c.number("pixels") == 2)
                .where(c -> c.number("block") == 4 || c.number("pixels") == 1)
                .where(c -> !FourBitWeights.arePacked(c) || !c.isOn("kept_weights"))
                .where(c -> !c.isOn("kept_weights") || c.number("pixels") * c.number("block") == 4);
    }

    private static boolean canPipeline(ConvComputation conv) {
        return conv.channels() >= 4;
    }

    private static Knob pipelined(ConvComputation conv) {
        return canPipeline(conv) ? Knob.flag(PIPELINED, false, true) : Knob.flag(PIPELINED, false);
    }

    /** How windows become runs of bytes, and how many at a time. */
    private static Knob gathered(ConvComputation conv) {
        MveGather gather = MveGather.of(conv);
        return Knob.of(gather.title(), gather.chunk());
    }

    /** Whether windows are single pixels inside the input, so that nothing is copied. */
    static boolean isInPlace(ConvComputation conv) {
        Window w = conv.window();
        return w.kernelH() == 1 && w.kernelW() == 1 && !w.isPadded();
    }

    /** Whether the weights of a block of four channels fit into registers while a row of pixels passes. */
    private static boolean canKeep(ConvComputation conv, MveRequantize rescale) {
        int zero = rescale.requantization().outputZeroPoint();
        boolean hasRegisters =
                rescale.proven().map(MveFloor::of).filter(MveFloor::isOdd).isEmpty();
        return hasRegisters
                && !rescale.isAny()
                && conv.taps() <= MveGemmKernel.VECTOR
                && conv.channels() % 4 == 0
                && conv.output().dim(2) >= 4
                && rescale.low() <= zero
                && rescale.high() >= zero;
    }

    @Override
    public LayerLoops lower(ConvTask task, MveRequantize rescale, Configuration configuration) {
        MveGemm.Knobs knobs = new MveGemm.Knobs(
                configuration.number("pixels"),
                configuration.number("block"),
                configuration.number("unroll"),
                configuration.isOn("kept_weights"),
                configuration.isOn(PIPELINED),
                FourBitWeights.arePacked(configuration));
        return new MveGemm(task, rescale, knobs).loops(task.rows());
    }

    /** Wherever it applies. */
    public Optional<Choice<MveRequantize>> choose(Workload workload) {
        String reason = "16 products to an instruction (MVE), exact in 32 bits";
        return applies(workload).map(rescale -> new Choice<>(this, rescale, configuration(workload, rescale), reason));
    }

    private Configuration configuration(Workload workload, MveRequantize rescale) {
        ConvComputation conv = workload.conv();
        boolean inPlace = isInPlace(conv);
        boolean single = conv.output().dim(1) == 1 && conv.output().dim(2) == 1;
        int block = single && conv.channels() > 4 ? 8 : 4;
        boolean isKept = block == 4 && canKeep(conv, rescale);
        boolean isPacked = !isKept && FourBitWeights.fit(conv);
        Configuration configuration = Configuration.of(name())
                .with("pixels", single || isKept ? 1 : 2)
                .with("block", block)
                .with("unroll", workload.isForSize() ? 1 : single || isPacked ? 4 : 9)
                .withFlag("kept_weights", isKept);
        MveGather gather = MveGather.of(conv);
        Configuration all = inPlace ? configuration : configuration.with(gather.title(), gather.chunk());
        return FourBitWeights.packed(all.withFlag(PIPELINED, isPacked && !single && canPipeline(conv)), isPacked);
    }
}
