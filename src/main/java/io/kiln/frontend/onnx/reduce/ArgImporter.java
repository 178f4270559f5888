// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reduce;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.UnsignedOrder;
import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Index of the largest or smallest element along an axis, the first of equal ones or the last.
 *
 * @param largest whether it is the largest
 */
record ArgImporter(boolean largest) implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        int axis = node.axis(node.attributes().whole("axis", 0), shape.rank());
        int size = shape.dim(axis);
        Arg data = UnsignedOrder.ordered(e, node.arg(0));
        Arg index;
        if (node.attributes().truth("select_last_index", false)) {
            Arg reversed = node.emit(StridedSlice.along(shape, axis, size - 1, -size - 1, -1), data);
            Arg fromEnd = node.emit(new ArgReduce(largest, axis), reversed);
            index = e.subtract(e.number(size - 1, DType.INT32), fromEnd);
        } else {
            index = node.emit(new ArgReduce(largest, axis), data);
        }
        List<Integer> dims = new ArrayList<>(shape.dims());
        if (node.attributes().truth("keepdims", true)) {
            dims.set(axis, 1);
        } else {
            dims.remove(axis);
        }
        node.finish(0, e.cast(e.reshape(index, dims), DType.INT64), ElementType.INT64);
    }
}
