// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.type.Shape;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.List;

/**
 * A convolution as one call of {@link SharedConvKernel}, with a small table of the layer's parameters.
 *
 * <pre>
 * scratch: the windows of two pixels, interleaved, 16 bits a value; if there is padding, also the rows under a row of windows, with it
 * </pre>
 */
final class SharedConv {
    private final ConvTask task;
    private final ConvComputation conv;
    private final SharedConvKernel kernel;
    private final Buffer weights;
    private final Buffer scratch;
    private final Buffer input;
    private final Buffer output;

    /** Packs weights and reserves scratch. */
    SharedConv(ConvTask task, ScalarRequantize rescale) {
        Tables tables = task.tables();
        OperatorBuffers buffers = task.buffers();
        this.task = task;
        this.conv = task.conv();
        SharedEpilogue epilogue = new SharedEpilogue(rescale);
        this.kernel = new SharedConvKernel(epilogue);
        this.weights = tables.add(
                "weight",
                DType.INT32,
                SharedWeights.of(conv, SharedConvKernel.BLOCK).pack(epilogue));
        this.input = buffers.argument(0);
        this.output = buffers.output();
        long rows = (long) conv.window().spanH()
                * SharedLayer.columns(conv)
                * conv.input().dim(3);
        this.scratch = buffers.scratch(DType.INT8, (rows + 3) / 4 * 4 + 4L * SharedWeights.filled(conv));
    }

    private static long even(int pixels) {
        return (pixels + 1L) / 2 * 2;
    }

    /** The loops. */
    LayerLoops loops() {
        Shape out = conv.output();
        boolean isFlat = SharedLayer.isFlat(conv);
        BlockBuilder body = new BlockBuilder();
        body.loop("n", out.dim(0), (batch, n) -> {
            Buffer in = batch.view("in", input, mul(n, conv.input().elements() / out.dim(0)));
            Buffer to = batch.mutableView("out", output, mul(n, out.elements() / out.dim(0)));
            if (isFlat) {
                List<Expr> sizes = List.of(
                        imm((long) out.dim(1) * out.dim(2)), imm(conv.input().dim(3)), imm(conv.channels()));
                batch.call(kernel.ofPixels(), List.of(in, weights, scratch, to), sizes);
            } else {
                Buffer layer = task.tables().add("layer", DType.INT16, SharedLayer.of(conv));
                batch.call(kernel.kernel(), List.of(in, weights, layer, scratch, to), List.of());
            }
        });
        long pixels = isFlat ? even(out.dim(1) * out.dim(2)) : out.dim(1) * even(out.dim(2));
        long channels =
                (long) SharedWeights.of(conv, SharedConvKernel.BLOCK).blocks().size() * SharedConvKernel.BLOCK;
        return new LayerLoops(body.build(), out.dim(0) * pixels * channels * SharedWeights.filled(conv)).sharing(2);
    }
}
