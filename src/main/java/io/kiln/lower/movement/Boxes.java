// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.movement;

import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/** The boxes that make up the output of an operator that only copies; none overlap, some may be empty. */
final class Boxes {
    private Boxes() {}

    static List<Box> transposed(Transpose op, List<TensorType> args, Shape out) {
        List<Long> strides = Box.strides(args.get(0).shape());
        return List.of(Box.whole(out, 0, op.axes().stream().map(strides::get).toList()));
    }

    static List<Box> slice(StridedSlice slice, List<TensorType> args, Shape out) {
        Shape data = args.get(0).shape();
        List<Long> own = Box.strides(data);
        List<Long> strides = new ArrayList<>();
        long offset = 0;
        for (int axis = 0; axis < data.rank(); axis++) {
            offset += slice.first(data, axis) * own.get(axis);
            strides.add(slice.strides().get(axis) * own.get(axis));
        }
        return List.of(Box.whole(out, offset, strides));
    }

    static List<Box> broadcast(BroadcastTo op, List<TensorType> args, Shape out) {
        Shape data = args.get(0).shape();
        List<Long> own = Box.strides(data);
        List<Long> strides = new ArrayList<>();
        int missing = out.rank() - data.rank();
        for (int axis = 0; axis < out.rank(); axis++) {
            boolean repeats = axis < missing || data.dim(axis - missing) == 1;
            strides.add(repeats ? 0 : own.get(axis - missing));
        }
        return List.of(Box.whole(out, 0, strides));
    }

    static List<Box> parts(Concatenate op, List<TensorType> args, Shape out) {
        List<Box> boxes = new ArrayList<>();
        int at = 0;
        for (int i = 0; i < args.size(); i++) {
            Shape part = args.get(i).shape();
            List<Integer> begin = new ArrayList<>(Box.zeros(part.rank()));
            begin.set(op.axis(), at);
            boxes.add(new Box(i, begin, part.dims(), 0, Box.strides(part)));
            at += part.dim(op.axis());
        }
        return boxes;
    }

    /** The boxes of a padded tensor: the data, and the padding before and after it along each dimension, without what earlier dimensions cover. */
    static List<Box> padded(Pad pad, List<TensorType> args, Shape out) {
        Shape data = args.get(0).shape();
        List<Box> boxes = new ArrayList<>();
        List<Long> still =
                Box.zeros(out.rank()).stream().map(Integer::longValue).toList();
        List<Integer> begin = new ArrayList<>(Box.zeros(out.rank()));
        List<Integer> size = new ArrayList<>(out.dims());
        for (int axis = 0; axis < out.rank(); axis++) {
            int before = pad.before().get(axis);
            size.set(axis, before);
            boxes.add(new Box(1, begin, size, 0, still));
            begin.set(axis, before + data.dim(axis));
            size.set(axis, pad.after().get(axis));
            boxes.add(new Box(1, begin, size, 0, still));
            begin.set(axis, before);
            size.set(axis, data.dim(axis));
        }
        boxes.add(new Box(0, begin, size, 0, Box.strides(data)));
        return boxes;
    }
}
