// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.reduce;

import io.kiln.base.DType;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.element.Elements;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Cumulative sums along a dimension. */
final class CumulativeSums {
    private CumulativeSums() {}

    static Tensor sums(TflCumsum op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int count = (int) type.shape().elements();
        float[] floats = new float[data.isFloat() ? count : 0];
        long[] sums = new long[data.isFloat() ? 0 : count];
        int step = Elements.strides(type.shape())[op.axis()];
        int size = type.shape().dim(op.axis());
        for (int i = 0; i < count; i++) {
            if (i / step % size == 0) {
                int first = op.reverse() ? i + (size - 1) * step : i;
                line(op, args, floats, sums, first, op.reverse() ? -step : step);
            }
        }
        return data.isFloat() ? Tensor.of(type, floats) : Tensor.ofSums(type, sums);
    }

    private static void line(TflCumsum op, List<Tensor> args, float[] floats, long[] sums, int first, int step) {
        Tensor data = args.get(0);
        int zeroPoint = args.get(1).scalarInt();
        int shift = data.type().dtype() == DType.INT8 ? TflCumsum.FRACTION_BITS : 0;
        int size = data.shape().dim(op.axis());
        float real = 0;
        long sum = -zeroPoint;
        for (int k = 0; k < size; k++) {
            int at = first + k * step;
            if (data.isFloat()) {
                floats[at] = op.exclusive() ? real : real + data.floats()[at];
                real += data.floats()[at];
            } else {
                long term = (data.longs().length > 0 ? data.longs()[at] : data.ints()[at]) - zeroPoint;
                sums[at] = (op.exclusive() ? sum : sum + term) << shift;
                sum += term;
            }
        }
    }
}
