// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Determinants of small matrices, expanded along the first row. */
final class DetImporter implements OnnxImporter {
    private static final int MOST = 4;

    @Override
    public void emit(NodeContext node) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        int rank = shape.rank();
        node.require(
                rank >= 2 && shape.dim(-1) == shape.dim(-2) && shape.dim(-1) <= MOST,
                "its data is " + shape.text(),
                "square matrices of at most " + MOST + " rows");
        Arg det = determinant(e, node.arg(0), rank);
        node.finish(e.reshape(det, shape.dims().subList(0, rank - 2)));
    }

    private static Arg determinant(Expressions e, Arg matrix, int rank) {
        int size = e.shape(matrix).dim(-1);
        if (size == 1) {
            return matrix;
        }
        Arg rest = e.slice(matrix, rank - 2, 1, size);
        Arg first = e.slice(matrix, rank - 2, 0, 1);
        Arg sum = null;
        for (int column = 0; column < size; column++) {
            List<Arg> columns = new ArrayList<>();
            if (column > 0) {
                columns.add(e.slice(rest, rank - 1, 0, column));
            }
            if (column < size - 1) {
                columns.add(e.slice(rest, rank - 1, column + 1, size));
            }
            Arg minor = determinant(e, e.concatenate(columns, rank - 1), rank);
            Arg product = e.multiply(e.slice(first, rank - 1, column, column + 1), minor);
            sum = column == 0 ? product : column % 2 == 1 ? e.subtract(sum, product) : e.add(sum, product);
        }
        return sum;
    }
}
