// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * NumPy's product of matrices: dimensions before the last two broadcast, and a vector is a row or a column. A product
 * with one constant matrix is a fully connected layer.
 */
final class MatMulImporter implements OnnxImporter {
    @Override
    public void emit(NodeContext node) {
        node.require(
                node.element(0).isFloat(), "its elements are " + node.element(0).text(), "floats");
        node.finish(product(new Expressions(node), node, node.arg(0), node.arg(1)));
    }

    /** The product of two tensors of floats. */
    static Arg product(Expressions e, NodeContext node, Arg lhs, Arg rhs) {
        int leftRank = e.shape(lhs).rank();
        int rightRank = e.shape(rhs).rank();
        node.require(leftRank > 0 && rightRank > 0, "it multiplies a scalar", "vectors, matrices or more");
        Arg a = leftRank == 1 ? e.reshape(lhs, List.of(1, e.shape(lhs).dim(0))) : lhs;
        Arg b = rightRank == 1 ? e.reshape(rhs, List.of(e.shape(rhs).dim(0), 1)) : rhs;
        boolean isDense =
                e.shape(b).rank() == 2 && (b instanceof Constant || e.shape(a).rank() == 2);
        Arg product = isDense
                ? dense(e, node, a, b)
                : node.emit(new TflBatchMatmul(false, false), a, b, Constant.scalar(0), Constant.scalar(0));
        List<Integer> dims = new ArrayList<>(e.shape(product).dims());
        if (rightRank == 1) {
            dims.remove(dims.size() - 1);
        }
        if (leftRank == 1) {
            dims.remove(dims.size() - (rightRank == 1 ? 1 : 2));
        }
        return e.reshape(product, dims);
    }

    private static Arg dense(Expressions e, NodeContext node, Arg a, Arg b) {
        Shape shape = e.shape(a);
        int depth = shape.dim(-1);
        Arg rows = e.reshape(a, List.of(Math.toIntExact(shape.elements() / Math.max(depth, 1)), depth));
        Arg weight = e.transpose(b, List.of(1, 0));
        int units = e.shape(weight).dim(0);
        List<Integer> dims = new ArrayList<>(shape.dims());
        dims.set(dims.size() - 1, units);
        return e.reshape(node.emit(new Dense(units), rows, weight), dims);
    }
}
