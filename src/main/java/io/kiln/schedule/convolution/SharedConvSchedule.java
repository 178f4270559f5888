// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.type.Shape;
import io.kiln.kernels.convolution.Jtedsp_sharedGenerated;
import io.kiln.kernels.convolution.Jtedsp_shared_blocksGenerated;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerCode;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.Optional;

/** Convolutions on Cortex-M with the DSP extension by one kernel for all layers, {@link Loops}. */
public record SharedConvSchedule(String name) implements Schedule<ScalarRequantize> {
    @Override
    public Optional<ScalarRequantize> applies(Workload workload) {
        return suits(workload)
                ? ScalarRequantize.ofScaled(workload.conv(), SharedEpilogue.FREE_BITS)
                : Optional.empty();
    }

    private static boolean suits(Workload workload) {
        ConvComputation conv = workload.conv();
        return workload.features().hasDsp()
                && workload.isPlainInt8()
                && !conv.depthwise()
                && conv.groups() == 1
                && conv.channels() >= SharedConvKernel.BLOCK
                && SharedLayer.fits(workload)
                && SharedWeights.of(conv, SharedConvKernel.BLOCK).fit();
    }

    @Override
    public LayerLoops lower(ConvTask task, ScalarRequantize rescale, Configuration configuration) {
        return new Loops(task, rescale).loops();
    }

    /** If size is optimized, except for single pixels, and for weights that are packed two to a byte. */
    public Optional<Choice<ScalarRequantize>> choose(Workload workload) {
        return workload.isForSize()
                ? choose(workload, "size: one kernel with SIMD for all convolutions")
                : Optional.empty();
    }

    /** For convolutions that are a small part of a model, with the same exceptions. */
    public Optional<Choice<ScalarRequantize>> chooseSmall(Workload workload) {
        return choose(workload, "a small part of the model: one kernel with SIMD for several convolutions");
    }

    private Optional<Choice<ScalarRequantize>> choose(Workload workload, String reason) {
        ConvComputation conv = workload.conv();
        boolean isSingle = conv.output().dim(1) * conv.output().dim(2) == 1;
        if (workload.features().hasMve() || isSingle || FourBitWeights.pack(workload)) {
            return Optional.empty();
        }
        return applies(workload).map(rescale -> new Choice<>(this, rescale, Configuration.of(name()), reason));
    }

    /**
     * A convolution as one call of {@link SharedConvKernel}, with a small table of the layer's parameters.
     *
     * <pre>
     * scratch: the windows of two pixels, interleaved, 16 bits a value; if there is padding, also the rows under a row of windows, with it
     * </pre>
     */
    private static final class Loops extends LayerCode {
        private final ConvTask task;
        private final SharedConvKernel kernel;
        private final Buffer weights;
        private final Buffer scratch;

        /** Packs weights and reserves scratch. */
        Loops(ConvTask task, ScalarRequantize rescale) {
            super(task);
            Tables tables = task.tables();
            OperatorBuffers buffers = task.buffers();
            this.task = task;
            SharedEpilogue epilogue = new SharedEpilogue(rescale);
            this.kernel = new SharedConvKernel(epilogue);
            this.weights = tables.add(
                    "weight",
                    DType.INT32,
                    SharedWeights.of(conv, SharedConvKernel.BLOCK).pack(epilogue));
            long rows = (long) conv.window().spanH()
                    * SharedLayer.columns(conv)
                    * conv.input().dim(3);
            this.scratch = buffers.scratch(DType.INT8, (rows + 3) / 4 * 4 + 4L * SharedWeights.filled(conv));
        }

        private static long even(int pixels) {
            return (pixels + 1L) / 2 * 2;
        }

        LayerLoops loops() {
            Shape out = conv.output();
            boolean isFlat = conv.isFlat();
            BlockBuilder body = new BlockBuilder();
            body.loop("n", out.dim(0), (batch, n) -> {
                Buffer in = batch.view("in", input, mul(n, conv.input().elements() / out.dim(0)));
                Buffer to = batch.mutableView("out", output, mul(n, out.elements() / out.dim(0)));
                if (isFlat) {
                    List<Expr> sizes = List.of(
                            imm((long) out.dim(1) * out.dim(2)),
                            imm(conv.input().dim(3)),
                            imm(conv.channels()));
                    batch.call(kernel.ofPixels(), List.of(in, weights, scratch, to), sizes);
                } else {
                    Buffer layer = task.tables().add("layer", DType.INT16, SharedLayer.of(conv));
                    batch.call(kernel.kernel(), List.of(in, weights, layer, scratch, to), List.of());
                }
            });
            long pixels = isFlat ? even(out.dim(1) * out.dim(2)) : out.dim(1) * even(out.dim(2));
            long channels = (long) SharedWeights.of(conv, SharedConvKernel.BLOCK)
                            .blocks()
                            .size()
                    * SharedConvKernel.BLOCK;
            return new LayerLoops(body.build(), out.dim(0) * pixels * channels * SharedWeights.filled(conv)).sharing(2);
        }
    }

    /**
     * Any convolution on Cortex-M with the DSP extension: windows of two pixels are widened to scratch, then multiplied with blocks of
     * four channels.
     *
     * @param epilogue the rescaling of the sums
     */
    private record SharedConvKernel(SharedEpilogue epilogue) {
        static final int BLOCK = 4;

        private static final Intrinsic WIDEN = Intrinsic.inFile("convolution/kiln_conv_widen", List.of(), INT32);
        private static final Intrinsic COPY = Intrinsic.inFile("movement/kiln_copy_row", List.of(), INT32);
        private static final Intrinsic FILL = Intrinsic.inFile("movement/kiln_fill_row", List.of(), INT32);
        private static final Intrinsic LAYER =
                Intrinsic.inFile("convolution/kiln_conv_layer", List.of(), INT32, WIDEN, COPY, FILL);
        private static final Intrinsic PIXELS =
                Intrinsic.inFile("convolution/kiln_conv_pixels", List.of(), INT32, WIDEN);
        /** {@code (in, w, layer, x, out)}, of which x is scratch. */
        Kernel kernel() {
            Intrinsic blocks = blocks();
            String name = "kiln_conv" + epilogue.suffix();
            return Kernel.of(
                    name,
                    List.of(
                            Pointer.in(INT8),
                            Pointer.in(INT32),
                            Pointer.in(INT16),
                            Pointer.out(INT8),
                            Pointer.out(INT8)),
                    0,
                    definition(name, blocks, false),
                    WIDEN,
                    COPY,
                    FILL,
                    LAYER,
                    blocks);
        }

        /** For outputs that read only the pixel at their place: {@code (in, w, x, out, pixels, inputs, channels)}, of which x is scratch. */
        Kernel ofPixels() {
            Intrinsic blocks = blocks();
            String name = "kiln_conv_1x1" + epilogue.suffix();
            return Kernel.of(
                    name,
                    List.of(Pointer.in(INT8), Pointer.in(INT32), Pointer.out(INT8), Pointer.out(INT8)),
                    3,
                    definition(name, blocks, true),
                    WIDEN,
                    PIXELS,
                    blocks);
        }

        private static String definition(String name, Intrinsic blocks, boolean isOfPixels) {
            return KernelSheet.text(
                    (out, html) -> Jtedsp_sharedGenerated.render(out, html, name, blocks.name(), isOfPixels));
        }

        private Intrinsic blocks() {
            String name = "kiln_conv_blocks" + epilogue.suffix();
            String definition =
                    KernelSheet.text((out, html) -> Jtedsp_shared_blocksGenerated.render(out, html, name, epilogue));
            return new Intrinsic(name, List.of(), INT32, "", definition, List.of());
        }
    }
}
