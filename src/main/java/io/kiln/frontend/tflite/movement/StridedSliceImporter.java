// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operand.ConstantParameters;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.MovementOptions;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * STRIDED_SLICE as in TensorFlow Lite (strided_slice.cc): each number of its lists belongs to a dimension of the data,
 * to a new dimension of 1, or to the ellipsis.
 */
final class StridedSliceImporter implements OperatorImporter {
    private static final int MOST_NUMBERS = 16;
    private static final String AGAIN = "Export the model again";

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int rank = data.shape().rank();
        Wanted wanted = read(operator, rank);
        List<Integer> begins = new ArrayList<>();
        List<Integer> ends = new ArrayList<>();
        List<Integer> strides = new ArrayList<>();
        List<Integer> dims = new ArrayList<>(Collections.nCopies(wanted.newAxes[0], 1));
        for (int axis = 0; axis < rank; axis++) {
            int size = data.shape().dim(axis);
            int stride = stride(operator, wanted, axis);
            int begin = begin(wanted, axis, size, stride);
            int end = end(operator, wanted, axis, size, stride, begin);
            begins.add(begin < 0 ? -size - 1 : begin);
            ends.add(end < 0 ? -size - 1 : end);
            strides.add(stride);
            if (!has(wanted.shrink, axis)) {
                int span = stride > 0 ? end - begin + stride - 1 : begin - end - stride - 1;
                dims.add(Math.max(0, span / Math.abs(stride)));
            }
            dims.addAll(Collections.nCopies(wanted.newAxes[axis + 1], 1));
        }
        operator.check();
        Arg part = operator.emit(new StridedSlice(begins, ends, strides), operator.value(data));
        Shape shape = new Shape(dims);
        operator.finish(shape.equals(operator.type(part).shape()) ? part : operator.emit(new Reshape(shape), part));
    }

    /** The requested range along each dimension of the data, masks by dimension. */
    private static final class Wanted {
        private final List<Integer> begin = new ArrayList<>();
        private final List<Integer> end = new ArrayList<>();
        private final List<Integer> strides = new ArrayList<>();
        private final boolean offset;

        /** New dimensions of 1 before each dimension of the data, and after the last. */
        private final int[] newAxes;

        private int beginMask;
        private int endMask;
        private int shrink;

        private Wanted(int rank, boolean offset) {
            this.newAxes = new int[rank + 1];
            this.offset = offset;
        }

        private void addWhole(int count) {
            for (int i = 0; i < count; i++) {
                beginMask |= 1 << begin.size();
                endMask |= 1 << begin.size();
                add(0, 0, 1);
            }
        }

        private void add(int first, int behind, int stride) {
            begin.add(first);
            end.add(behind);
            strides.add(stride);
        }
    }

    /** Assigns each number to its dimension. */
    private static Wanted read(OperatorContext operator, int rank) {
        FlatTable options = operator.requiredOptions(MovementOptions.StridedSlice.TYPE);
        int[] begin = ConstantParameters.ints(operator, "the first indices", operator.input(1));
        int count = begin.length;
        int[] end = ConstantParameters.ints(operator, "the ends", operator.input(2), count);
        int[] strides = ConstantParameters.ints(operator, "the strides", operator.input(3), count);
        operator.require(count <= MOST_NUMBERS, count + " first indices", "at most " + MOST_NUMBERS, AGAIN);
        operator.check();
        int all = (1 << count) - 1;
        int ellipsis = options.get(MovementOptions.StridedSlice.ELLIPSIS_MASK) & all;
        int added = options.get(MovementOptions.StridedSlice.NEW_AXIS_MASK) & all & ~ellipsis;
        int named = count - Integer.bitCount(added) - Integer.bitCount(ellipsis);
        operator.require(
                Integer.bitCount(ellipsis) <= 1, "ellipsis_mask is " + ellipsis, "one ellipsis at most", AGAIN);
        operator.require(
                named <= rank,
                named + " indices and new_axis_mask " + added,
                "an index for each of " + rank + " dimensions at most",
                AGAIN);
        operator.check();
        Wanted wanted = new Wanted(rank, options.get(MovementOptions.StridedSlice.OFFSET));
        for (int i = 0; i < count; i++) {
            if (has(ellipsis, i)) {
                wanted.addWhole(rank - named);
            } else if (has(added, i)) {
                wanted.newAxes[wanted.begin.size()]++;
            } else {
                int bit = 1 << wanted.begin.size();
                wanted.beginMask |= has(options.get(MovementOptions.StridedSlice.BEGIN_MASK), i) ? bit : 0;
                wanted.endMask |= has(options.get(MovementOptions.StridedSlice.END_MASK), i) ? bit : 0;
                wanted.shrink |= has(options.get(MovementOptions.StridedSlice.SHRINK_AXIS_MASK), i) ? bit : 0;
                wanted.add(begin[i], end[i], strides[i]);
            }
        }
        wanted.addWhole(rank - wanted.begin.size());
        return wanted;
    }

    private static int stride(OperatorContext operator, Wanted wanted, int axis) {
        int stride = wanted.strides.get(axis);
        boolean holds = has(wanted.shrink, axis) ? stride > 0 : stride != 0 && stride != Integer.MIN_VALUE;
        operator.require(holds, "stride " + stride + " along dimension " + axis, "a stride other than 0", AGAIN);
        operator.check();
        return stride;
    }

    private static int begin(Wanted wanted, int axis, int size, int stride) {
        if (has(wanted.beginMask, axis)) {
            return stride > 0 ? 0 : size - 1;
        }
        return cut(wanted.begin.get(axis), size, stride);
    }

    private static int end(OperatorContext operator, Wanted wanted, int axis, int size, int stride, int begin) {
        if (has(wanted.shrink, axis)) {
            operator.require(
                    begin >= 0 && begin < size,
                    "index " + wanted.begin.get(axis) + " along dimension " + axis,
                    "below " + size,
                    AGAIN);
            return begin + 1;
        }
        if (has(wanted.endMask, axis)) {
            return stride > 0 ? size : -1;
        }
        long end = (long) wanted.end.get(axis) + (wanted.offset ? begin : 0);
        return cut((int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, end)), size, stride);
    }

    /** An index counted from the start, limited to the range of slices. */
    private static int cut(int stated, int size, int stride) {
        int index = stated < 0 ? stated + size : stated;
        return stride > 0 ? Math.min(Math.max(index, 0), size) : Math.min(Math.max(index, -1), size - 1);
    }

    private static boolean has(int mask, int axis) {
        return (mask >> axis & 1) != 0;
    }
}
