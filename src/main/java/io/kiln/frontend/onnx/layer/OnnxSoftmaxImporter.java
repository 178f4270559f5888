// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Softmax, or its logarithm. From version 13 on along one axis; before, along all axes from one on, as one.
 *
 * @param isLog whether it is the logarithm: {@code (x - max) - log(sum(exp(x - max)))}
 */
record OnnxSoftmaxImporter(boolean isLog) implements OnnxImporter {
    private static final int ONE_AXIS = 13;

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        boolean isOne = node.version() >= ONE_AXIS;
        long stated = node.attributes().whole("axis", isOne ? -1 : 1);
        boolean isBeyond = !isOne && stated == shape.rank();
        int axis = isBeyond ? shape.rank() : node.axis(stated, Math.max(1, shape.rank()));
        node.finish(isOne ? along(e, node, axis) : flattened(e, node, axis));
    }

    private Arg along(Expressions e, NodeContext node, int axis) {
        int rank = node.shape(0).rank();
        if (axis == rank - 1 || rank == 0) {
            return rows(e, node, node.arg(0));
        }
        List<Integer> axes = new ArrayList<>(IntStream.range(0, rank).boxed().toList());
        Collections.swap(axes, axis, rank - 1);
        return e.transpose(rows(e, node, e.transpose(node.arg(0), axes)), axes);
    }

    private Arg flattened(Expressions e, NodeContext node, int axis) {
        Shape shape = node.shape(0);
        int columns = shape.dims().subList(axis, shape.rank()).stream().reduce(1, (a, b) -> a * b);
        Arg matrix = e.reshape(node.arg(0), List.of(Math.toIntExact(shape.elements() / columns), columns));
        return e.reshape(rows(e, node, matrix), shape);
    }

    private Arg rows(Expressions e, NodeContext node, Arg data) {
        if (!isLog) {
            return node.emit(new Softmax(1), data);
        }
        List<Integer> last = List.of(e.shape(data).rank() - 1);
        Arg lowered = e.subtract(data, e.reduce(Reduce.Kind.MAX, data, last));
        Arg sum = e.reduce(Reduce.Kind.SUM, e.unary(Unary.Kind.EXP, lowered), last);
        return e.subtract(lowered, e.unary(Unary.Kind.LOG, sum));
    }
}
