// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.builtinOfBytes;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions;
import io.kiln.frontend.tflite.schema.OperatorOptions.ReverseSequence;
import io.kiln.frontend.tflite.schema.OperatorOptions.Split;
import io.kiln.frontend.tflite.schema.OperatorOptions.Unpack;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Updates.ScatterNd;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Operators that take parts of a tensor (SLICE, STRIDED_SLICE, SPLIT, SPLIT_V, UNPACK), or put elements into other places, more than once
 * or several into one (REVERSE_V2, REVERSE_SEQUENCE, TILE, SCATTER_ND).
 */
public final class SliceImporters {
    private static final Set<DType> INDEX = Set.of(DType.INT32, DType.INT64);
    private static final int MOST_NUMBERS = 16;

    public static final List<Registration> ALL = List.of(
            builtinOfBytes(BuiltinOperator.STRIDED_SLICE, 8, SliceImporters::stridedSlice),
            builtinOfBytes(BuiltinOperator.SPLIT, 4, SliceImporters::split),
            builtinOfBytes(BuiltinOperator.SLICE, 6, SliceImporters::slice),
            builtinOfBytes(BuiltinOperator.UNPACK, 4, SliceImporters::unpack),
            builtinOfBytes(BuiltinOperator.SPLIT_V, 2, SliceImporters::splitV),
            builtin(BuiltinOperator.REVERSE_V2, 3, SliceImporters::reverse),
            builtinOfBytes(BuiltinOperator.TILE, 3, SliceImporters::tile),
            builtinOfBytes(BuiltinOperator.REVERSE_SEQUENCE, 1, SliceImporters::reverseSequence),
            builtin(BuiltinOperator.SCATTER_ND, 1, SliceImporters::scatter));

    private SliceImporters() {}

    /** SLICE: first indices and sizes; a size of -1 means the rest. */
    private static void slice(OperatorContext operator) {
        Shape data = operator.input(0).shape();
        int[] begin = operator.integers("the first indices", operator.input(1), data.rank());
        int[] size = operator.integers("the sizes", operator.input(2), data.rank());
        List<Integer> begins = new ArrayList<>();
        List<Integer> ends = new ArrayList<>();
        List<Integer> ones = new ArrayList<>();
        for (int axis = 0; axis < data.rank(); axis++) {
            long end = size[axis] == -1 ? data.dim(axis) : (long) begin[axis] + size[axis];
            operator.require(
                    begin[axis] >= 0 && begin[axis] <= end && end <= data.dim(axis),
                    "a slice from " + begin[axis] + " of size " + size[axis] + " along dimension " + axis,
                    "a part of " + data.text());
            begins.add(begin[axis]);
            ends.add((int) end);
            ones.add(1);
        }
        operator.check();
        operator.finish(new StridedSlice(begins, ends, ones), operator.value(0));
    }

    private static void split(OperatorContext operator) {
        TfliteTensor data = operator.input(1);
        int axis = operator.axis(operator.input(0), data.shape().rank());
        int parts = operator.outputs().size();
        int stated = operator.requiredOptions(Split.TYPE).get(Split.NUM_SPLITS);
        int size = data.shape().dim(axis);
        operator.requireThat(
                stated == parts && size % parts == 0,
                "a dimension of " + size + " is split into " + stated + " with " + parts + " outputs",
                "as many outputs, of one size");
        int[] sizes = new int[parts];
        Arrays.fill(sizes, size / parts);
        split(operator, data, axis, sizes);
    }

    private static void splitV(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] sizes = operator.integers(
                "the sizes", operator.input(1), operator.outputs().size());
        int axis = operator.axis(operator.input(2), data.shape().rank());
        int open = -1;
        long sum = 0;
        for (int i = 0; i < sizes.length; i++) {
            operator.require(sizes[i] >= 0 || (sizes[i] == -1 && open < 0), "a part has size " + sizes[i], "0 or more");
            open = sizes[i] < 0 ? i : open;
            sum += Math.max(0, sizes[i]);
        }
        int all = data.shape().dim(axis);
        operator.requireThat(open < 0 ? sum == all : sum <= all, "the parts add up to " + sum, "a dimension of " + all);
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

    private static void unpack(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        FlatTable options = operator.requiredOptions(Unpack.TYPE);
        int axis = operator.axis(options.get(Unpack.AXIS), data.shape().rank());
        int parts = data.shape().dim(axis);
        operator.requireThat(
                options.get(Unpack.NUM) == parts && operator.outputs().size() == parts,
                "it has " + operator.outputs().size() + " outputs",
                parts + ", one for each index along dimension " + axis);
        Shape dims = data.shape().without(axis);
        for (int i = 0; i < parts; i++) {
            Arg part = operator.emit(StridedSlice.along(data.shape(), axis, i, i + 1, 1), operator.value(data));
            operator.finish(operator.outputs().get(i), operator.emit(new Reshape(dims), part));
        }
    }

    private static void reverse(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        Arg value = operator.value(data);
        for (int stated : operator.integers("the axes", operator.input(1))) {
            int axis = operator.axis(stated, data.shape().rank());
            int size = data.shape().dim(axis);
            value = operator.emit(StridedSlice.along(data.shape(), axis, size - 1, -size - 1, -1), value);
        }
        operator.finish(value);
    }

    /**
     * STRIDED_SLICE as in TensorFlow Lite (strided_slice.cc): each number of its lists belongs to a dimension of the data,
     * to a new dimension of 1, or to the ellipsis.
     */
    private static void stridedSlice(OperatorContext operator) {
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
        FlatTable options = operator.requiredOptions(OperatorOptions.StridedSlice.TYPE);
        int[] begin = operator.integers("the first indices", operator.input(1));
        int count = begin.length;
        int[] end = operator.integers("the ends", operator.input(2), count);
        int[] strides = operator.integers("the strides", operator.input(3), count);
        operator.requireThat(count <= MOST_NUMBERS, count + " first indices", "at most " + MOST_NUMBERS);
        int all = (1 << count) - 1;
        int ellipsis = options.get(OperatorOptions.StridedSlice.ELLIPSIS_MASK) & all;
        int added = options.get(OperatorOptions.StridedSlice.NEW_AXIS_MASK) & all & ~ellipsis;
        int named = count - Integer.bitCount(added) - Integer.bitCount(ellipsis);
        operator.require(Integer.bitCount(ellipsis) <= 1, "ellipsis_mask is " + ellipsis, "one ellipsis at most");
        operator.requireThat(
                named <= rank,
                named + " indices and new_axis_mask " + added,
                "an index for each of " + rank + " dimensions at most");
        Wanted wanted = new Wanted(rank, options.get(OperatorOptions.StridedSlice.OFFSET));
        for (int i = 0; i < count; i++) {
            if (has(ellipsis, i)) {
                wanted.addWhole(rank - named);
            } else if (has(added, i)) {
                wanted.newAxes[wanted.begin.size()]++;
            } else {
                int bit = 1 << wanted.begin.size();
                wanted.beginMask |= has(options.get(OperatorOptions.StridedSlice.BEGIN_MASK), i) ? bit : 0;
                wanted.endMask |= has(options.get(OperatorOptions.StridedSlice.END_MASK), i) ? bit : 0;
                wanted.shrink |= has(options.get(OperatorOptions.StridedSlice.SHRINK_AXIS_MASK), i) ? bit : 0;
                wanted.add(begin[i], end[i], strides[i]);
            }
        }
        wanted.addWhole(rank - wanted.begin.size());
        return wanted;
    }

    private static int stride(OperatorContext operator, Wanted wanted, int axis) {
        int stride = wanted.strides.get(axis);
        boolean holds = has(wanted.shrink, axis) ? stride > 0 : stride != 0 && stride != Integer.MIN_VALUE;
        operator.requireThat(holds, "stride " + stride + " along dimension " + axis, "a stride other than 0");
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
                    "below " + size);
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

    /** Each dimension in turn: the rest of the tensor behind it is repeated as a whole. */
    private static void tile(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int rank = data.shape().rank();
        int[] times = operator.integers("the multiples", operator.input(1), rank);
        operator.require(
                Arrays.stream(times).allMatch(n -> n >= 1),
                "the multiples are " + Arrays.toString(times),
                "1 or more",
                "Export the model without the result, which has no elements");
        operator.requireThat(
                operator.output().dtype() == data.dtype(),
                "it makes " + operator.output().dtype().text() + " of " + data.text(),
                "one type");
        Formulas f = operator;
        List<Integer> dims = new ArrayList<>(data.shape().dims());
        Arg value = operator.value(data);
        for (int axis = 0; axis < rank; axis++) {
            if (times[axis] > 1) {
                int before = product(dims.subList(0, axis));
                int behind = product(dims.subList(axis, rank));
                Arg lines = f.reshape(value, Shape.of(before, 1, behind));
                value = f.broadcast(lines, Shape.of(before, times[axis], behind));
                dims.set(axis, Math.multiplyExact(dims.get(axis), times[axis]));
            }
        }
        operator.finish(f.reshape(value, new Shape(dims)));
    }

    private static int product(List<Integer> dims) {
        return dims.stream().reduce(1, Math::multiplyExact);
    }

    /** The first elements along a dimension in reverse, as many as the batch's length says; the others stay. */
    private static void reverseSequence(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor lengths = operator.input(1);
        Shape shape = data.shape();
        FlatTable options = operator.requiredOptions(ReverseSequence.TYPE);
        int time = operator.axis(options.get(ReverseSequence.SEQ_DIM), shape.rank());
        int batch = operator.axis(options.get(ReverseSequence.BATCH_DIM), shape.rank());
        operator.requireThat(
                time != batch
                        && INDEX.contains(lengths.dtype())
                        && lengths.shape().equals(Shape.of(shape.dim(batch))),
                "it reverses dimension " + time + " of " + data.text() + " by the lengths " + lengths.text()
                        + " of dimension " + batch,
                "another dimension, and an int32 or int64 for each batch");
        if (lengths.isConstant()) {
            requireWithin(operator, operator.constant(lengths), List.of(shape.dim(time) + 1));
        }
        Formulas f = operator;
        Arg step = f.places(Formulas.along(shape.rank(), time, shape.dim(time)), i -> i);
        Arg length = f.reshape(
                f.cast(operator.value(lengths), DType.INT32), Formulas.along(shape.rank(), batch, shape.dim(batch)));
        Arg isInside = f.less(step, length);
        Arg source = f.where(isInside, f.add(f.subtract(length, step), -1), step);
        Arg flat = f.multiply(source, distance(shape, time));
        for (int axis = 0; axis < shape.rank(); axis++) {
            if (axis != time) {
                int stride = distance(shape, axis);
                flat = f.add(flat, f.places(Formulas.along(shape.rank(), axis, shape.dim(axis)), i -> i * stride));
            }
        }
        Arg elements = f.reshape(operator.value(data), Shape.of(Math.toIntExact(shape.elements())));
        operator.finish(f.take(elements, flat, 0));
    }

    private static int distance(Shape shape, int axis) {
        return product(shape.dims().subList(axis + 1, shape.rank()));
    }

    /**
     * Adds updates to zeros; sums of integers wrap around. Bytes are added as they are, whatever their zero point
     * (reference_ops.h: ScatterNd).
     */
    private static void scatter(OperatorContext operator) {
        TfliteTensor indices = operator.input(0);
        TfliteTensor updates = operator.input(1);
        int[] dims = operator.integers("the shape's dimensions", operator.input(2));
        operator.requireThat(
                Arrays.stream(dims).allMatch(dim -> dim >= 1),
                "the shape's dimensions are " + Arrays.toString(dims),
                "1 or more",
                "Export the model without the result, which has no elements");
        Shape shape = new Shape(Arrays.stream(dims).boxed().toList());
        int named = indices.shape().rank() == 0 ? 0 : indices.shape().dim(-1);
        List<Integer> expected = new ArrayList<>();
        if (named <= shape.rank()) {
            expected.addAll(indices.shape()
                    .dims()
                    .subList(0, Math.max(0, indices.shape().rank() - 1)));
            expected.addAll(shape.dims().subList(named, shape.rank()));
        }
        operator.require(
                INDEX.contains(indices.dtype())
                        && named > 0
                        && named <= shape.rank()
                        && shape.elements() > 0
                        && updates.shape().equals(new Shape(expected)),
                "it puts " + updates.text() + " at " + indices.text() + " of " + shape.text(),
                "int32 or int64 indices, and updates for the dimensions that they leave");
        operator.checkTypes(
                Set.of(DType.FLOAT32, DType.UINT8, DType.INT8, DType.INT32, DType.INT64, DType.BOOL),
                updates,
                operator.output());
        if (indices.isConstant()) {
            requireWithin(operator, operator.constant(indices), shape.dims().subList(0, named));
        }
        Formulas f = operator;
        Shape sizes = new Shape(shape.dims().subList(0, named));
        int width = product(shape.dims().subList(named, shape.rank()));
        int count = Math.toIntExact(indices.shape().elements() / named);
        int rows = Math.toIntExact(sizes.elements());
        Arg tuples = f.reshape(f.cast(operator.value(indices), DType.INT32), Shape.of(count, named));
        List<Arg> terms = IntStream.range(0, named)
                .mapToObj(i -> f.multiply(f.slice(tuples, 1, i, i + 1), distance(sizes, i)))
                .toList();
        Arg places = terms.stream().reduce(f::add).orElseThrow();
        DType dtype = updates.dtype();
        DType sum = dtype.bytes() < DType.INT32.bytes() ? DType.INT32 : dtype;
        Arg scattered = operator.emit(
                new ScatterNd(ScatterNd.Mode.ADD),
                f.broadcast(f.number(0, sum), Shape.of(rows, width)),
                f.reshape(places, Shape.of(1, count)),
                f.cast(f.reshape(operator.value(updates), Shape.of(count, width)), sum));
        operator.finish(f.reshape(f.cast(scattered, dtype), shape));
    }

    /** Constant indices are below the sizes, which they count along in turn; those of the run are limited by the loops. */
    private static void requireWithin(OperatorContext operator, Constant indices, List<Integer> sizes) {
        for (int i = 0; i < indices.elements(); i++) {
            int size = sizes.get(i % sizes.size());
            long index = indices.integer(i);
            operator.requireThat(index >= 0 && index < size, "it has the index " + index, "0 to " + (size - 1));
        }
    }
}
