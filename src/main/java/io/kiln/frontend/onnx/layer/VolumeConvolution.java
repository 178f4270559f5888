// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.List;

/** A convolution over three dimensions as a sum of convolutions over two: one for each plane of the kernel. */
final class VolumeConvolution {
    private VolumeConvolution() {}

    /** The convolution of data (N, D, H, W, C) with a weight (M, C / group, kD, kH, kW). */
    static Arg emit(Expressions e, NodeContext node, Arg data, Arg weight, Spatial spatial, int groups) {
        int begin = spatial.begins().get(0);
        int end = spatial.ends().get(0);
        Arg deep = begin + end == 0
                ? data
                : node.emit(
                        new Pad(List.of(0, begin, 0, 0, 0), List.of(0, end, 0, 0, 0)),
                        data,
                        e.number(0, DType.FLOAT32));
        Shape shape = e.shape(deep);
        int depth = spatial.output(0, e.shape(data).dim(1));
        node.require(depth > 0, "its window is deeper than its padded data", "a smaller kernel");
        Spatial plane = new Spatial(
                spatial.kernel().subList(1, 3),
                spatial.strides().subList(1, 3),
                spatial.dilations().subList(1, 3),
                spatial.begins().subList(1, 3),
                spatial.ends().subList(1, 3));
        int stride = spatial.strides().get(0);
        Arg sum = null;
        for (int k = 0; k < spatial.kernel().get(0); k++) {
            int first = k * spatial.dilations().get(0);
            Arg planes = node.emit(StridedSlice.along(shape, 1, first, first + (depth - 1) * stride + 1, stride), deep);
            Arg images = e.reshape(planes, List.of(shape.dim(0) * depth, shape.dim(2), shape.dim(3), shape.dim(4)));
            Arg part = OnnxConvolutionImporter.convolve(e, node, images, weight(e, weight, k), plane, groups);
            sum = k == 0 ? part : e.add(sum, part);
        }
        Shape result = e.shape(sum);
        return e.reshape(sum, List.of(shape.dim(0), depth, result.dim(1), result.dim(2), result.dim(3)));
    }

    private static Arg weight(Expressions e, Arg weight, int plane) {
        Shape shape = e.shape(weight);
        Arg slice = e.slice(weight, 2, plane, plane + 1);
        return e.reshape(slice, List.of(shape.dim(0), shape.dim(1), shape.dim(3), shape.dim(4)));
    }
}
