// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.movement;

import io.kiln.ir.arith.ResizeCoordinates;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.element.Elements;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Elements looked up by coordinates or indices: resized images, and slices by index. */
final class Resizes {
    private Resizes() {}

    static Tensor take(Take op, List<Tensor> args, TensorType type) {
        Shape data = args.get(0).shape();
        Shape indices = args.get(1).shape();
        int[] dataStrides = Elements.strides(data);
        int[] indexStrides = Elements.strides(indices);
        int added = indices.rank() - op.batchDims();
        return Elements.pick(type, args.get(0), at -> {
            int position = 0;
            for (int i = 0; i < indices.rank(); i++) {
                position += indexStrides[i] * at[i < op.batchDims() ? i : i - op.batchDims() + op.axis()];
            }
            int index = Math.max(0, Math.min(args.get(1).ints()[position], data.dim(op.axis()) - 1));
            int from = index * dataStrides[op.axis()];
            for (int i = 0; i < data.rank(); i++) {
                from += i == op.axis() ? 0 : dataStrides[i] * at[i < op.axis() ? i : i + added - 1];
            }
            return from;
        });
    }

    static Tensor resize(Resize2d op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        Shape in = data.shape();
        int[] strides = Elements.strides(in);
        ResizeCoordinates rows =
                new ResizeCoordinates(in.dim(1), op.height(), op.alignCorners(), op.halfPixelCenters());
        ResizeCoordinates columns =
                new ResizeCoordinates(in.dim(2), op.width(), op.alignCorners(), op.halfPixelCenters());
        if (!op.linear()) {
            int[] row = rows.nearest();
            int[] column = columns.nearest();
            return Elements.pick(
                    type,
                    data,
                    at -> at[0] * strides[0] + row[at[1]] * strides[1] + column[at[2]] * strides[2] + at[3]);
        }
        return type.dtype().isFloat() ? real(data, rows, columns, type) : integer(data, rows, columns, type);
    }

    private static Tensor real(Tensor data, ResizeCoordinates rows, ResizeCoordinates columns, TensorType type) {
        float[] v = data.floats();
        float[] result = new float[(int) type.shape().elements()];
        int[] s = Elements.strides(data.shape());
        int[] at = new int[4];
        for (int i = 0; i < result.length; i++) {
            int y0 = rows.realLower(at[1]);
            int x0 = columns.realLower(at[2]);
            int base = at[0] * s[0] + at[3];
            int upper = base + y0 * s[1];
            int lower = base + rows.realUpper(at[1]) * s[1];
            float fy = rows.realPosition(at[1]) - y0;
            float fx = columns.realPosition(at[2]) - x0;
            int left = x0 * s[2];
            int right = columns.realUpper(at[2]) * s[2];
            result[i] = v[upper + left] * (1 - fy) * (1 - fx)
                    + v[lower + left] * fy * (1 - fx)
                    + v[upper + right] * (1 - fy) * fx
                    + v[lower + right] * fy * fx;
            Elements.advance(at, type.shape());
        }
        return Tensor.of(type, result);
    }

    private static Tensor integer(Tensor data, ResizeCoordinates rows, ResizeCoordinates columns, TensorType type) {
        int[] v = data.ints();
        int[] result = new int[(int) type.shape().elements()];
        int[] s = Elements.strides(data.shape());
        long one = ResizeCoordinates.ONE;
        int[] y0 = rows.lower();
        int[] y1 = rows.upper();
        int[] x0 = columns.lower();
        int[] x1 = columns.upper();
        int[] at = new int[4];
        for (int i = 0; i < result.length; i++) {
            int base = at[0] * s[0] + at[3];
            long fy = rows.positions()[at[1]] - one * y0[at[1]];
            long fx = columns.positions()[at[2]] - one * x0[at[2]];
            int upper = base + y0[at[1]] * s[1];
            int lower = base + y1[at[1]] * s[1];
            int left = x0[at[2]] * s[2];
            int right = x1[at[2]] * s[2];
            long sum = v[upper + left] * (one - fy) * (one - fx)
                    + v[lower + left] * fy * (one - fx)
                    + v[upper + right] * (one - fy) * fx
                    + v[lower + right] * fy * fx;
            result[i] = (byte) ((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
            Elements.advance(at, type.shape());
        }
        return Tensor.of(type, result);
    }
}
