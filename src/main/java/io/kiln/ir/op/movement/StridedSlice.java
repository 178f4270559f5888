// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Elements at regular distances along each dimension, as NumPy's {@code data[begin:end:stride]}. Argument: data.
 *
 * @param begin first index along each dimension; negative counts from the end
 * @param end index after the last; negative counts from the end, so that with a negative stride {@code -size - 1} means
 * before index 0
 * @param strides steps, not 0
 */
public record StridedSlice(List<Integer> begin, List<Integer> end, List<Integer> strides) implements Op {
    public static final Signature<StridedSlice> SIGNATURE = Signature.of(StridedSlice.class, "strided_slice")
            .data("data")
            .attributes(
                    Attribute.wholes("begin", StridedSlice::begin, Integer.MIN_VALUE, Integer.MAX_VALUE),
                    Attribute.wholes("end", StridedSlice::end, Integer.MIN_VALUE, Integer.MAX_VALUE),
                    Attribute.wholes("strides", StridedSlice::strides, Integer.MIN_VALUE, Integer.MAX_VALUE)
                            .or("strides", List.of()),
                    StridedSlice::of)
            .traits()
            // TVM's parser wants all that have no default, which its printer calls None.
            .spelled((op, args) -> Spelling.of(op).with("axes", Optional.empty()))
            .result(StridedSlice::result);

    @Override
    public Card<StridedSlice> card() {
        return SIGNATURE.of(this);
    }

    public StridedSlice {
        begin = List.copyOf(begin);
        end = List.copyOf(end);
        strides = List.copyOf(strides);
    }

    /** A slice of the whole data along all dimensions but one. */
    public static StridedSlice along(Shape shape, int axis, int begin, int end, int stride) {
        List<Integer> begins = new ArrayList<>();
        List<Integer> ends = new ArrayList<>();
        List<Integer> steps = new ArrayList<>();
        for (int i = 0; i < shape.rank(); i++) {
            begins.add(i == axis ? begin : 0);
            ends.add(i == axis ? end : shape.dim(i));
            steps.add(i == axis ? stride : 1);
        }
        return new StridedSlice(begins, ends, steps);
    }

    /** Index of the first element along a dimension of the data. */
    public int first(Shape data, int axis) {
        return index(begin.get(axis), data.dim(axis), strides.get(axis));
    }

    private int size(Shape data, int axis) {
        long stride = strides.get(axis);
        long span = (long) index(end.get(axis), data.dim(axis), (int) stride) - first(data, axis);
        long towardsEnd = stride > 0 ? span + stride - 1 : span + stride + 1;
        return (int) Math.max(0, towardsEnd / stride);
    }

    /** An index counted from the start and limited to the range of slices. */
    private static int index(int stated, int size, int stride) {
        int index = stated < 0 ? stated + size : stated;
        return stride > 0 ? Math.min(Math.max(index, 0), size) : Math.min(Math.max(index, -1), size - 1);
    }

    private TensorType result(List<TensorType> args) {
        Shape data = args.get(0).shape();
        Check.that(
                begin.size() == data.rank() && end.size() == data.rank() && strides.size() == data.rank(),
                "begin " + begin + ", end " + end + " and strides " + strides + " do not fit " + data.text());
        Check.that(!strides.contains(0), "a stride is 0: " + strides);
        List<Integer> dims = new ArrayList<>();
        for (int axis = 0; axis < data.rank(); axis++) {
            dims.add(size(data, axis));
        }
        return new TensorType(new Shape(dims), args.get(0).dtype());
    }

    /** Strides that are not stated are 1. */
    private static StridedSlice of(List<Integer> begin, List<Integer> end, List<Integer> strides) {
        return new StridedSlice(begin, end, strides.isEmpty() ? Collections.nCopies(begin.size(), 1) : strides);
    }
}
