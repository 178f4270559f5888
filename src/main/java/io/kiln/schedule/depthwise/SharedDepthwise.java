// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.SharedEpilogue;
import io.kiln.schedule.convolution.SharedLayer;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A depthwise convolution as one call of {@link SharedDepthwiseKernel}.
 *
 * <pre>
 * weights: as in the model
 * scratch: of four channels, 16 bits a value: the window's weights as often as it has rows, and as many rows of the input with their padding
 * </pre>
 */
final class SharedDepthwise {
    private final ConvTask task;
    private final ConvComputation conv;
    private final SharedDepthwiseKernel kernel;
    private final Buffer weights;
    private final Buffer constants;
    private final Buffer layer;
    private final Buffer scratch;

    /** Makes tables and reserves scratch. */
    SharedDepthwise(ConvTask task, ScalarRequantize rescale) {
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

    /** The loops. */
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
