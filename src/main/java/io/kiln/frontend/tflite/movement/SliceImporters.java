// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operand.ConstantParameters;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.schema.MovementOptions.Split;
import io.kiln.frontend.tflite.schema.MovementOptions.Unpack;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Operators that take parts of a tensor: SLICE, SPLIT, SPLIT_V, UNPACK, REVERSE_V2. */
final class SliceImporters {
    private static final String AGAIN = "Export the model again";

    private SliceImporters() {}

    /** SLICE: first indices and sizes; a size of -1 means the rest. */
    static void slice(OperatorContext operator) {
        Shape data = operator.input(0).shape();
        int[] begin = ConstantParameters.ints(operator, "the first indices", operator.input(1), data.rank());
        int[] size = ConstantParameters.ints(operator, "the sizes", operator.input(2), data.rank());
        List<Integer> begins = new ArrayList<>();
        List<Integer> ends = new ArrayList<>();
        List<Integer> ones = new ArrayList<>();
        for (int axis = 0; axis < data.rank(); axis++) {
            long end = size[axis] == -1 ? data.dim(axis) : (long) begin[axis] + size[axis];
            operator.require(
                    begin[axis] >= 0 && begin[axis] <= end && end <= data.dim(axis),
                    "a slice from " + begin[axis] + " of size " + size[axis] + " along dimension " + axis,
                    "a part of " + data.text(),
                    AGAIN);
            begins.add(begin[axis]);
            ends.add((int) end);
            ones.add(1);
        }
        operator.check();
        operator.finish(operator.emit(new StridedSlice(begins, ends, ones), operator.value(operator.input(0))));
    }

    static void split(OperatorContext operator) {
        TfliteTensor data = operator.input(1);
        int axis = ConstantParameters.axis(
                operator, operator.input(0), data.shape().rank());
        int parts = operator.outputs().size();
        int stated = operator.requiredOptions(Split.TYPE).get(Split.NUM_SPLITS);
        int size = data.shape().dim(axis);
        operator.require(
                stated == parts && size % parts == 0,
                "a dimension of " + size + " is split into " + stated + " with " + parts + " outputs",
                "as many outputs, of one size",
                AGAIN);
        operator.check();
        int[] sizes = new int[parts];
        Arrays.fill(sizes, size / parts);
        split(operator, data, axis, sizes);
    }

    static void splitV(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] sizes = ConstantParameters.ints(
                operator, "the sizes", operator.input(1), operator.outputs().size());
        int axis = ConstantParameters.axis(
                operator, operator.input(2), data.shape().rank());
        int open = -1;
        long sum = 0;
        for (int i = 0; i < sizes.length; i++) {
            operator.require(
                    sizes[i] >= 0 || (sizes[i] == -1 && open < 0), "a part has size " + sizes[i], "0 or more", AGAIN);
            open = sizes[i] < 0 ? i : open;
            sum += Math.max(0, sizes[i]);
        }
        int all = data.shape().dim(axis);
        operator.require(
                open < 0 ? sum == all : sum <= all, "the parts add up to " + sum, "a dimension of " + all, AGAIN);
        operator.check();
        if (open >= 0) {
            sizes[open] = (int) (all - sum);
        }
        split(operator, data, axis, sizes);
    }

    private static void split(OperatorContext operator, TfliteTensor data, int axis, int[] sizes) {
        int begin = 0;
        for (int i = 0; i < sizes.length; i++) {
            StridedSlice part = StridedSlice.along(data.shape(), axis, begin, begin + sizes[i], 1);
            operator.finish(operator.outputs().get(i), operator.emit(part, operator.value(data)));
            begin += sizes[i];
        }
    }

    static void unpack(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        FlatTable options = operator.requiredOptions(Unpack.TYPE);
        int axis = ConstantParameters.axis(
                operator, options.get(Unpack.AXIS), data.shape().rank());
        int parts = data.shape().dim(axis);
        operator.require(
                options.get(Unpack.NUM) == parts && operator.outputs().size() == parts,
                "it has " + operator.outputs().size() + " outputs",
                parts + ", one for each index along dimension " + axis,
                AGAIN);
        operator.check();
        List<Integer> dims = new ArrayList<>(data.shape().dims());
        dims.remove(axis);
        for (int i = 0; i < parts; i++) {
            Arg part = operator.emit(StridedSlice.along(data.shape(), axis, i, i + 1, 1), operator.value(data));
            operator.finish(operator.outputs().get(i), operator.emit(new Reshape(new Shape(dims)), part));
        }
    }

    static void reverse(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        Arg value = operator.value(data);
        for (int stated : ConstantParameters.ints(operator, "the axes", operator.input(1))) {
            int axis = ConstantParameters.axis(operator, stated, data.shape().rank());
            int size = data.shape().dim(axis);
            value = operator.emit(StridedSlice.along(data.shape(), axis, size - 1, -size - 1, -1), value);
        }
        operator.finish(value);
    }
}
