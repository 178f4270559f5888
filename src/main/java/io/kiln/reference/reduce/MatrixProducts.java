// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.reduce;

import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.element.Elements;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Products of matrices. */
final class MatrixProducts {
    private MatrixProducts() {}

    static Tensor multiply(TflBatchMatmul op, List<Tensor> args, TensorType type) {
        Tensor a = args.get(0);
        Tensor b = args.get(1);
        int depth = op.depth(a.shape());
        int[] at = new int[type.shape().rank()];
        int count = (int) type.shape().elements();
        int aStep = op.transposeA() ? a.shape().dim(-1) : 1;
        int bStep = op.transposeB() ? 1 : b.shape().dim(-1);
        long[] sums = new long[a.isFloat() ? 0 : count];
        float[] floats = new float[a.isFloat() ? count : 0];
        for (int i = 0; i < count; i++) {
            int row = at[at.length - 2] * (op.transposeA() ? 1 : depth);
            int column = at[at.length - 1] * (op.transposeB() ? depth : 1);
            int fromA = matrix(a.shape(), at) + row;
            int fromB = matrix(b.shape(), at) + column;
            for (int k = 0; k < depth; k++) {
                int x = fromA + k * aStep;
                int y = fromB + k * bStep;
                if (a.isFloat()) {
                    floats[i] += a.floats()[x] * b.floats()[y];
                } else {
                    int centred = a.ints()[x] - args.get(2).scalarInt();
                    sums[i] += (long) centred * (b.ints()[y] - args.get(3).scalarInt());
                }
            }
            Elements.advance(at, type.shape());
        }
        return a.isFloat() ? Tensor.of(type, floats) : Tensor.ofSums(type, sums);
    }

    /** Index of the first element of the matrix for an element of the result. */
    private static int matrix(Shape shape, int[] at) {
        int position = 0;
        int missing = at.length - shape.rank();
        for (int i = 0; i < shape.rank() - 2; i++) {
            position = position * shape.dim(i) + (shape.dim(i) == 1 ? 0 : at[missing + i]);
        }
        return position * shape.dim(-2) * shape.dim(-1);
    }
}
