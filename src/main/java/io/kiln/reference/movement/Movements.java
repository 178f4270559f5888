// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.movement;

import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.ScatterNd;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.TflDynamicUpdateSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.element.Elements;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** Operators that only copy elements. */
public final class Movements {
    private Movements() {}

    static Tensor transpose(Transpose op, List<Tensor> args, TensorType type) {
        int[] strides = Elements.strides(args.get(0).shape());
        return Elements.pick(type, args.get(0), at -> {
            int index = 0;
            for (int i = 0; i < at.length; i++) {
                index += at[i] * strides[op.axes().get(i)];
            }
            return index;
        });
    }

    static Tensor slice(StridedSlice op, List<Tensor> args, TensorType type) {
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

    static Tensor broadcast(BroadcastTo op, List<Tensor> args, TensorType type) {
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

    static Tensor pad(Pad op, List<Tensor> args, TensorType type) {
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

    static Tensor concatenate(Concatenate op, List<Tensor> args, TensorType type) {
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

    static Tensor scatter(ScatterNd op, List<Tensor> args, TensorType type) {
        Tensor updates = args.get(2);
        Elements result = new Elements(type);
        for (int i = 0; i < type.shape().elements(); i++) {
            result.copy(args.get(0), i, i);
        }
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
        Elements result = new Elements(type);
        for (int i = 0; i < type.shape().elements(); i++) {
            result.copy(args.get(0), i, i);
        }
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
}
