// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.ir.Arg;
import io.kiln.ir.op.Reshape;
import io.kiln.ir.op.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * STRIDED_SLICE as TensorFlow Lite Micro has it: the masks for a new axis and an ellipsis count for nothing there, so that a model
 * that needs them does not fit its output's shape.
 */
final class StridedSliceImporter implements OperatorImporter {
    private static final int OPTIONS = 32;
    private static final String AGAIN = "Export the model again";

    /** What is asked for along all dimensions, and the options. */
    private record Wanted(
            List<Integer> begin,
            List<Integer> end,
            List<Integer> strides,
            int beginMask,
            int endMask,
            int shrink,
            boolean offset) {}

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        FlatTable options = operator.requiredOptions(OPTIONS);
        int rank = data.shape().rank();
        Wanted wanted = new Wanted(
                list(operator, "the first indices", 1),
                list(operator, "the ends", 2),
                list(operator, "the strides", 3),
                options.i32(0, 0),
                options.i32(1, 0),
                options.i32(4, 0),
                options.u8(5, 0) != 0);
        requireNoOtherAxes(operator, options);
        List<Integer> begins = new ArrayList<>();
        List<Integer> ends = new ArrayList<>();
        List<Integer> strides = new ArrayList<>();
        List<Integer> dims = new ArrayList<>();
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
        }
        operator.check();
        Arg part = operator.emit(new StridedSlice(begins, ends, strides), operator.value(data));
        operator.finish(wanted.shrink == 0 ? part : operator.emit(new Reshape(new Shape(dims)), part));
    }

    /** One number for each dimension of the data. */
    private static List<Integer> list(OperatorContext operator, String what, int input) {
        int rank = operator.input(0).shape().rank();
        int[] values = ConstantParameters.ints(operator, what, operator.input(input), rank);
        return Arrays.stream(values).boxed().toList();
    }

    private static void requireNoOtherAxes(OperatorContext operator, FlatTable options) {
        operator.require(
                options.i32(2, 0) == 0 && options.i32(3, 0) == 0,
                "ellipsis_mask is " + options.i32(2, 0) + " and new_axis_mask " + options.i32(3, 0),
                "0: TensorFlow Lite Micro leaves them out",
                "Write the slice with an index for every dimension, and reshape for new ones");
        operator.check();
    }

    private static int stride(OperatorContext operator, Wanted wanted, int axis) {
        int stride = wanted.strides.get(axis);
        boolean holds = has(wanted.shrink, axis) ? stride > 0 : stride != 0 && stride != Integer.MIN_VALUE;
        operator.require(holds, "stride " + stride + " along dimension " + axis, "another than 0", AGAIN);
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

    /** An index counted from the start, cut to where slices begin and end. */
    private static int cut(int stated, int size, int stride) {
        int index = stated < 0 ? stated + size : stated;
        return stride > 0 ? Math.min(Math.max(index, 0), size) : Math.min(Math.max(index, -1), size - 1);
    }

    private static boolean has(int mask, int axis) {
        return (mask >> axis & 1) != 0;
    }
}
