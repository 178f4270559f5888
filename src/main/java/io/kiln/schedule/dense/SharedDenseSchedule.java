// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.SharedWeights;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.Optional;

/** Dense layers, and convolutions whose window is the whole input, on Cortex-M with the DSP extension by one kernel for all of them, {@link SharedDense}. */
public final class SharedDenseSchedule implements Schedule<SharedDenseRequantize> {
    /** Smaller layers do not use the kernel: if it serves only one layer of an image, the saved cycles do not justify its code size. */
    private static final long LEAST_MACS = 5000;

    @Override
    public String name() {
        return "dsp_dense_shared";
    }

    @Override
    public Optional<SharedDenseRequantize> applies(Workload workload) {
        return suits(workload) ? SharedDenseRequantize.of(workload.conv()) : Optional.empty();
    }

    private static boolean suits(Workload workload) {
        ConvComputation conv = workload.conv();
        Window w = conv.window();
        boolean isWhole = w.kernelH() == conv.input().dim(1)
                && w.kernelW() == conv.input().dim(2)
                && !w.isPadded();
        return workload.features().hasDsp()
                && workload.isPlainInt8()
                && conv.weight().type().dtype() == DType.INT8
                && conv.op().rootTypes().get(0).dtype() == DType.INT8
                && conv.groups() == 1
                && !conv.depthwise()
                && isWhole
                && conv.taps() >= SharedWeights.STEP
                && conv.channels() >= SharedDenseKernel.BLOCK;
    }

    @Override
    public Space space(Workload workload, SharedDenseRequantize rescale) {
        return Space.of(name());
    }

    @Override
    public LayerLoops lower(ConvTask task, SharedDenseRequantize rescale, Configuration configuration) {
        return new SharedDense(task, rescale).loops(task.rows());
    }

    /** If size is optimized, except for small layers and for weights that are packed two to a byte. */
    public Optional<Choice<SharedDenseRequantize>> choose(Workload workload) {
        boolean isSmall = workload.macs() < LEAST_MACS;
        if (!workload.isForSize() || workload.features().hasMve() || isSmall || FourBitWeights.pack(workload)) {
            return Optional.empty();
        }
        String reason = "size: one kernel with SIMD for all dense layers";
        return applies(workload).map(rescale -> new Choice<>(this, rescale, Configuration.of(name()), reason));
    }
}
