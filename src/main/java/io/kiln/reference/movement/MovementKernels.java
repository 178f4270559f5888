// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.movement;

import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.ir.arith.ResizeCoordinates;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.movement.Updates.ScatterNd;
import io.kiln.ir.op.movement.Updates.TflDynamicUpdateSlice;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.element.Elements;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.Tensor;
import java.util.List;
import java.util.Map;

/** Kernels of the operators that copy elements, or look them up by coordinates or indices. */
public final class MovementKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Transpose.class, MovementKernels::transpose),
            pure(StridedSlice.class, MovementKernels::slice),
            pure(Pad.class, MovementKernels::pad),
            pure(Concatenate.class, MovementKernels::concatenate),
            pure(BroadcastTo.class, MovementKernels::broadcast),
            pure(Take.class, MovementKernels::take),
            pure(ScatterNd.class, MovementKernels::scatter),
            pure(Resize2d.class, MovementKernels::resize));

    private MovementKernels() {}

    private static Tensor transpose(Transpose op, List<Tensor> args, TensorType type) {
        int[] strides = Elements.strides(args.get(0).shape());
        return Elements.pick(type, args.get(0), at -> {
            int index = 0;
            for (int i = 0; i < at.length; i++) {
                index += at[i] * strides[op.axes().get(i)];
            }
            return index;
        });
    }

    private static Tensor slice(StridedSlice op, List<Tensor> args, TensorType type) {
        Shape data = args.get(0).shape();
        int[] strides = Elements.strides(data);
        return Elements.pick(type, args.get(0), at -> {
            int index = 0;
            for (int i = 0; i < at.length; i++) {
                index += (op.first(data, i) + at[i] * op.strides().get(i)) * strides[i];
            }
            return index;
        });
    }

    private static Tensor broadcast(BroadcastTo op, List<Tensor> args, TensorType type) {
        Shape data = args.get(0).shape();
        int[] strides = Elements.strides(data);
        int missing = type.shape().rank() - data.rank();
        return Elements.pick(type, args.get(0), at -> {
            int index = 0;
            for (int i = 0; i < data.rank(); i++) {
                index += data.dim(i) == 1 ? 0 : at[i + missing] * strides[i];
            }
            return index;
        });
    }

    private static Tensor pad(Pad op, List<Tensor> args, TensorType type) {
        Shape data = args.get(0).shape();
        int[] strides = Elements.strides(data);
        int[] at = new int[data.rank()];
        Elements result = new Elements(type);
        for (int i = 0; i < type.shape().elements(); i++) {
            int index = 0;
            boolean inside = true;
            for (int axis = 0; axis < at.length; axis++) {
                int own = at[axis] - op.before().get(axis);
                inside &= own >= 0 && own < data.dim(axis);
                index += own * strides[axis];
            }
            result.copy(args.get(inside ? 0 : 1), inside ? index : 0, i);
            Elements.advance(at, type.shape());
        }
        return result.tensor();
    }

    private static Tensor concatenate(Concatenate op, List<Tensor> args, TensorType type) {
        Elements result = new Elements(type);
        int[] strides = Elements.strides(type.shape());
        int begin = 0;
        for (Tensor part : args) {
            int[] at = new int[type.shape().rank()];
            for (int i = 0; i < part.shape().elements(); i++) {
                int index = begin * strides[op.axis()];
                for (int axis = 0; axis < at.length; axis++) {
                    index += at[axis] * strides[axis];
                }
                result.copy(part, i, index);
                Elements.advance(at, part.shape());
            }
            begin += part.shape().dim(op.axis());
        }
        return result.tensor();
    }

    private static Tensor scatter(ScatterNd op, List<Tensor> args, TensorType type) {
        Tensor updates = args.get(2);
        Elements result = Elements.of(args.get(0));
        int width = type.shape().dim(1);
        for (int i = 0; i < updates.shape().elements(); i++) {
            int row = Math.max(
                    0, Math.min(args.get(1).ints()[i / width], type.shape().dim(0) - 1));
            int to = row * width + i % width;
            switch (op.mode()) {
                case UPDATE -> result.copy(updates, i, to);
                case ADD -> result.add(updates, i, to);
                case MUL -> result.combine(updates, i, to, (a, b) -> a * b, (a, b) -> a * b);
                case MIN -> result.combine(updates, i, to, Math::min, (a, b) -> b < a ? b : a);
                case MAX -> result.combine(updates, i, to, Math::max, (a, b) -> b > a ? b : a);
            }
        }
        return result.tensor();
    }

    public static Tensor update(TflDynamicUpdateSlice op, List<Tensor> args, TensorType type) {
        Tensor update = args.get(1);
        Tensor start = args.get(TflDynamicUpdateSlice.START);
        Elements result = Elements.of(args.get(0));
        int[] strides = Elements.strides(type.shape());
        int first = 0;
        for (int axis = 0; axis < strides.length; axis++) {
            long stated = start.longs().length > 0 ? start.longs()[axis] : start.ints()[axis];
            int most = type.shape().dim(axis) - update.shape().dim(axis);
            first += strides[axis] * (int) Math.min(Math.max(stated, 0), most);
        }
        int[] at = new int[strides.length];
        for (int i = 0; i < update.shape().elements(); i++) {
            int to = first;
            for (int axis = 0; axis < at.length; axis++) {
                to += at[axis] * strides[axis];
            }
            result.copy(update, i, to);
            Elements.advance(at, update.shape());
        }
        return result.tensor();
    }

    private static Tensor take(Take op, List<Tensor> args, TensorType type) {
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

    private static Tensor resize(Resize2d op, List<Tensor> args, TensorType type) {
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
