// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.kernels.depthwise.Jtedsp_sharedGenerated;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.SharedEpilogue;
import io.kiln.schedule.convolution.SharedLayer;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Depthwise convolutions on Cortex-M with the DSP extension by one kernel for all layers, {@link Loops}. */
public record SharedDepthwiseSchedule(String name) implements Schedule<ScalarRequantize> {
    /** Largest number of widened weights of a channel, to limit scratch. */
    private static final int MOST_WEIGHTS = 128;

    @Override
    public Optional<ScalarRequantize> applies(Workload workload) {
        return suits(workload)
                ? ScalarRequantize.ofScaled(workload.conv(), SharedEpilogue.FREE_BITS)
                : Optional.empty();
    }

    private static boolean suits(Workload workload) {
        ConvComputation conv = workload.conv();
        Window w = conv.window();
        return workload.features().hasDsp()
                && workload.isPlainInt8()
                && conv.isOneToOne()
                && conv.channels() >= SharedDepthwiseKernel.BLOCK
                && w.dilationH() == 1
                && w.dilationW() == 1
                && w.kernelH() * w.kernelH() * w.kernelW() <= MOST_WEIGHTS
                && Loops.reachesInput(conv)
                && SharedLayer.fits(workload);
    }

    @Override
    public LayerLoops lower(ConvTask task, ScalarRequantize rescale, Configuration configuration) {
        return new Loops(task, rescale).loops();
    }

    /** If size is optimized, except for weights that are packed two to a byte and rescalings with corrections, which take more than plain loops do. */
    public Optional<Choice<ScalarRequantize>> choose(Workload workload) {
        if (!workload.isForSize() || workload.features().hasMve() || FourBitWeights.pack(workload)) {
            return Optional.empty();
        }
        String reason = "size: one kernel with SIMD for all depthwise layers";
        return applies(workload)
                .filter(rescale -> rescale.correction().count() == 0)
                .map(rescale -> new Choice<>(this, rescale, Configuration.of(name()), reason));
    }

    /**
     * A depthwise convolution as one call of {@link SharedDepthwiseKernel}.
     *
     * <pre>
     * weights: as in the model
     * scratch: of four channels, 16 bits a value: the window's weights as often as it has rows, and as many rows of the input with their padding
     * </pre>
     */
    private static final class Loops {
        private final ConvTask task;
        private final ConvComputation conv;
        private final SharedDepthwiseKernel kernel;
        private final Buffer weights;
        private final Buffer constants;
        private final Buffer layer;
        private final Buffer scratch;

        /** Makes tables and reserves scratch. */
        Loops(ConvTask task, ScalarRequantize rescale) {
            Tables tables = task.tables();
            OperatorBuffers buffers = task.buffers();
            this.task = task;
            this.conv = task.conv();
            this.kernel = new SharedDepthwiseKernel(new SharedEpilogue(rescale));
            this.weights = tables.add("weight", DType.INT8, conv.weight().data());
            List<Integer> words = new ArrayList<>(kernel.epilogue().header());
            int common = words.size();
            for (int o = 0; o < conv.channels(); o++) {
                words.addAll(kernel.epilogue().constants(o));
            }
            this.constants = tables.add(
                    "rescale", DType.INT32, words.stream().mapToInt(w -> w).toArray());
            int[] sizes = SharedLayer.of(conv);
            int own = sizes.length - 1;
            int[] all = Arrays.copyOf(sizes, own + 3);
            all[own] = common;
            all[own + 1] = rescale.correction().constants();
            all[own + 2] = 1 << (rescale.proven().scaleBits() - SharedEpilogue.FREE_BITS);
            this.layer = tables.add("layer", DType.INT16, all);
            this.scratch = buffers.scratch(DType.INT8, scratchBytes(conv));
        }

        /** Bytes of scratch. */
        static long scratchBytes(ConvComputation conv) {
            Window w = conv.window();
            int taps = w.kernelH() * w.kernelW();
            int step = SharedDepthwiseKernel.STEP;
            int filled = (taps + step - 1) / step * step;
            return (long) SharedDepthwiseKernel.BYTES
                    * ((long) w.kernelH() * filled + (long) w.kernelH() * columns(conv) + filled - taps);
        }

        /** Columns of the input that windows reach, with its padding. */
        private static int columns(ConvComputation conv) {
            return (conv.output().dim(2) - 1) * conv.window().strideW()
                    + conv.window().kernelW();
        }

        /** Whether windows reach a column of the input: the kernel copies one or more of each row. */
        static boolean reachesInput(ConvComputation conv) {
            return columns(conv) > conv.window().padLeft();
        }

        LayerLoops loops() {
            Shape out = conv.output();
            BlockBuilder body = new BlockBuilder();
            Buffer input = task.buffers().argument(0);
            Buffer output = task.buffers().output();
            body.loop("n", out.dim(0), (batch, n) -> {
                Buffer in = batch.view("in", input, mul(n, conv.input().elements() / out.dim(0)));
                Buffer to = batch.mutableView("out", output, mul(n, out.elements() / out.dim(0)));
                batch.call(kernel.kernel(), List.of(in, weights, constants, layer, scratch, to), List.of());
            });
            int block = SharedDepthwiseKernel.BLOCK;
            long channels = (conv.channels() + block - 1L) / block * block;
            long pixels = (long) out.dim(0) * out.dim(1) * out.dim(2);
            return new LayerLoops(body.build(), pixels * channels * conv.taps()).sharing(pixels);
        }
    }

    /**
     * Any depthwise convolution on Cortex-M with the DSP extension, four channels at a time: rows are widened into a ring of as many as the window has, and the
     * window's weights once for each position in the ring; then two pixels at a time share the weights.
     *
     * @param epilogue the rescaling of the sums
     */
    private record SharedDepthwiseKernel(SharedEpilogue epilogue) {
        static final int BLOCK = 4;

        /** Taps of a step. */
        static final int STEP = 3;

        /** Bytes of four channels of a tap or pixel. */
        static final int BYTES = 8;

        private static final Intrinsic WIDEN = Intrinsic.inFile("depthwise/kiln_depthwise_widen", List.of(), INT32);
        private static final Intrinsic LAYER =
                Intrinsic.inFile("depthwise/kiln_depthwise_layer", List.of(), INT32, WIDEN);

        /** {@code (in, w, rescale, layer, x, out)}, of which x is scratch. */
        Kernel kernel() {
            return Kernel.of(
                    "kiln_depthwise_rows" + epilogue.suffix(),
                    List.of(
                            Pointer.in(INT8),
                            Pointer.in(INT8),
                            Pointer.in(INT32),
                            Pointer.in(INT16),
                            Pointer.out(INT8),
                            Pointer.out(INT8)),
                    0,
                    (out, html) -> Jtedsp_sharedGenerated.render(
                            out,
                            html,
                            "kiln_depthwise_rows" + epilogue.suffix(),
                            "kiln_depthwise_pixels" + epilogue.suffix(),
                            epilogue),
                    WIDEN,
                    LAYER);
        }
    }
}
