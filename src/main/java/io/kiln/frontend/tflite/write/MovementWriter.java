// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions;
import io.kiln.frontend.tflite.schema.OperatorOptions.Reducer;
import io.kiln.frontend.tflite.schema.SchemaEnums.FusedActivation;
import io.kiln.frontend.tflite.write.Emission.NodeWriter;
import io.kiln.frontend.tflite.write.Emission.Options;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.quantize.plan.Format;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Writes operators that move elements, products of matrices, and reductions. */
final class MovementWriter implements NodeWriter {
    @Override
    public boolean write(Emission node) {
        if (!node.type().dtype().isFloat()) {
            return false;
        }
        if (node.op() instanceof Reshape) {
            parametrised(node, BuiltinOperator.RESHAPE, 1, node.outputShape().dims(), Options.NONE);
        } else if (node.op() instanceof Transpose transpose) {
            parametrised(node, BuiltinOperator.TRANSPOSE, node.version(1, 2, 4), transpose.axes(), Options.NONE);
        } else if (node.op() instanceof Concatenate concatenate) {
            concatenate(node, concatenate);
        } else if (node.op() instanceof StridedSlice slice) {
            slice(node, slice);
        } else if (node.op() instanceof Pad pad) {
            return pad(node, pad);
        } else if (node.op() instanceof Take take) {
            return gather(node, take);
        } else if (node.op() instanceof BroadcastTo broadcast) {
            List<Integer> shape = broadcast.shape().dims();
            parametrised(node, BuiltinOperator.BROADCAST_TO, node.version(2, 3, 3), shape, Options.NONE);
        } else if (node.op() instanceof TflBatchMatmul multiply) {
            multiply(node, multiply);
        } else if (node.op() instanceof Resize2d resize) {
            resize(node, resize);
        } else {
            reduce(node, (Reduce) node.op());
        }
        return true;
    }

    private static void parametrised(
            Emission node, BuiltinOperator code, int version, List<Integer> parameters, Options options) {
        int tensor = node.graph().ints(node.name() + "/parameters", parameters);
        node.write(code, version, List.of(node.data(0), tensor), options);
    }

    private static void concatenate(Emission node, Concatenate op) {
        node.write(
                BuiltinOperator.CONCATENATION,
                node.version(1, 2, 3),
                node.data(),
                Options.of(OperatorOptions.Concatenation.TYPE)
                        .with(OperatorOptions.Concatenation.AXIS, op.axis())
                        .with(OperatorOptions.Concatenation.FUSED_ACTIVATION_FUNCTION, FusedActivation.NONE.code()));
    }

    private static void slice(Emission node, StridedSlice op) {
        GraphWriter graph = node.graph();
        node.write(
                BuiltinOperator.STRIDED_SLICE,
                node.version(1, 2, 4),
                List.of(
                        node.data(0),
                        graph.ints(node.name() + "/begin", op.begin()),
                        graph.ints(node.name() + "/end", op.end()),
                        graph.ints(node.name() + "/strides", op.strides())),
                Options.of(OperatorOptions.StridedSlice.TYPE));
    }

    /** Padding with a value other than 0 is not written. */
    private static boolean pad(Emission node, Pad op) {
        Arg value = node.args().get(1);
        if (!(value instanceof Constant constant) || constant.real(0) != 0) {
            return false;
        }
        List<Integer> widths = new ArrayList<>();
        for (int i = 0; i < op.before().size(); i++) {
            widths.addAll(List.of(op.before().get(i), op.after().get(i)));
        }
        int tensor = node.graph()
                .matrix(node.name() + "/paddings", Shape.of(op.before().size(), 2), widths);
        node.write(BuiltinOperator.PAD, node.version(1, 2, 3), List.of(node.data(0), tensor), Options.NONE);
        return true;
    }

    private static void resize(Emission node, Resize2d op) {
        Options options = op.linear()
                ? Options.of(OperatorOptions.ResizeBilinear.TYPE)
                        .with(OperatorOptions.ResizeBilinear.ALIGN_CORNERS, op.alignCorners())
                        .with(OperatorOptions.ResizeBilinear.HALF_PIXEL_CENTERS, op.halfPixelCenters())
                : Options.of(OperatorOptions.ResizeNearestNeighbor.TYPE)
                        .with(OperatorOptions.ResizeNearestNeighbor.ALIGN_CORNERS, op.alignCorners())
                        .with(OperatorOptions.ResizeNearestNeighbor.HALF_PIXEL_CENTERS, op.halfPixelCenters());
        parametrised(
                node,
                op.linear() ? BuiltinOperator.RESIZE_BILINEAR : BuiltinOperator.RESIZE_NEAREST_NEIGHBOR,
                op.halfPixelCenters() ? 3 : node.version(1, 2, 2),
                List.of(op.height(), op.width()),
                options);
    }

    /** The library refuses indices that do not exist. */
    private static boolean gather(Emission node, Take op) {
        if (!node.planned().node().hasOnlyExistingIndices()) {
            return false;
        }
        Arg indices = node.args().get(1);
        node.write(
                BuiltinOperator.GATHER,
                op.batchDims() > 0 ? 5 : node.version(1, 2, 4),
                List.of(node.data(0), node.graph().value(indices, Format.plain(DType.INT32))),
                Options.of(OperatorOptions.Gather.TYPE)
                        .with(OperatorOptions.Gather.AXIS, op.axis())
                        .with(OperatorOptions.Gather.BATCH_DIMS, op.batchDims()));
        return true;
    }

    private static void multiply(Emission node, TflBatchMatmul op) {
        node.write(
                BuiltinOperator.BATCH_MATMUL,
                node.version(1, 2, 3),
                node.data(),
                Options.of(OperatorOptions.BatchMatMul.TYPE)
                        .with(OperatorOptions.BatchMatMul.ADJ_X, op.transposeA())
                        .with(OperatorOptions.BatchMatMul.ADJ_Y, op.transposeB()));
    }

    private static void reduce(Emission node, Reduce op) {
        if (op.kind() == Reduce.Kind.SUM && !node.isFloat()) {
            sum(node, op);
            return;
        }
        BuiltinOperator code = switch (op.kind()) {
            case SUM -> BuiltinOperator.SUM;
            case MEAN -> BuiltinOperator.MEAN;
            case MAX -> BuiltinOperator.REDUCE_MAX;
            case MIN -> BuiltinOperator.REDUCE_MIN;
            case PROD -> BuiltinOperator.REDUCE_PROD;
        };
        int version = op.kind() == Reduce.Kind.MEAN ? node.version(1, 2, 3) : node.version(1, 2, 2);
        parametrised(node, code, version, op.axes(), reducer(op));
    }

    private static Options reducer(Reduce op) {
        return Options.of(Reducer.TYPE).with(Reducer.KEEP_DIMS, op.keepDims());
    }

    /**
     * A sum of integers as a mean and a product: the mean has the same integers and the scale divided by the count; the product multiplies
     * by the count. TensorFlow Lite's library rescales the sums of SUM in single precision, TensorFlow Lite Micro in fixed point; MEAN is the same
     * in both.
     */
    private static void sum(Emission node, Reduce op) {
        Format format = node.format();
        Quantization whole = format.quantization().orElseThrow();
        float count = (float) node.dataShape(0).elements() / node.outputShape().elements();
        GraphWriter graph = node.graph();
        Format part =
                new Format(format.dtype(), Optional.of(new Quantization(whole.scale() / count, whole.zeroPoint())));
        int mean = graph.tensor(node.name() + "_mean", node.type(), part);
        List<Integer> inputs = List.of(node.data(0), graph.ints(node.name() + "/parameters", op.axes()));
        graph.operator(BuiltinOperator.MEAN, node.version(1, 2, 3), inputs, mean, reducer(op));
        graph.multiply(mean, count, node.output());
    }
}
