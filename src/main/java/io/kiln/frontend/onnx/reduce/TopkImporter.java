// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reduce;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.movement.FlatIndices;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.UnsignedOrder;
import io.kiln.ir.Arg;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** {@code TopK}: the largest or smallest elements along an axis, in order, and their indices; how many is known at build time. */
final class TopkImporter implements OnnxImporter {
    private static final int K_INPUT = 10;

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        int axis = node.axis(node.attributes().whole("axis", -1), shape.rank());
        long k = node.version() >= K_INPUT
                ? node.integers(1, "k").get(0)
                : node.attributes().whole("k", 0);
        node.require(k >= 1 && k <= shape.dim(axis), "its k is " + k, "1 to " + shape.dim(axis));
        boolean isAscend = !node.attributes().truth("largest", true);
        List<Integer> order = swapped(shape.rank(), axis);
        Arg data = e.transpose(node.arg(0), order);
        Arg indices = node.emit(new Topk((int) k, isAscend), UnsignedOrder.ordered(e, data));
        Arg places = FlatIndices.ofElements(e, indices, e.shape(data), shape.rank() - 1);
        Arg values = e.take(FlatIndices.flat(e, data), places, 0);
        node.finish(0, e.transpose(values, order));
        node.finish(1, e.cast(e.transpose(indices, order), DType.INT64), ElementType.INT64);
    }

    /** All dimensions, an axis and the last one exchanged. */
    private static List<Integer> swapped(int rank, int axis) {
        List<Integer> order = new ArrayList<>(IntStream.range(0, rank).boxed().toList());
        order.set(axis, rank - 1);
        order.set(rank - 1, axis);
        return order;
    }
}
