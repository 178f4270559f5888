// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.REVERSE_SEQUENCE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SCATTER_ND;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.TILE;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operand.ConstantParameters;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.MovementOptions.ReverseSequence;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.movement.ScatterNd;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** Operators that put elements into other places, more than once or several into one: TILE, REVERSE_SEQUENCE, SCATTER_ND. */
public final class RepeatImporters {
    private static final Set<DType> INDEX = Set.of(DType.INT32, DType.INT64);

    public static final List<Registration> ALL = List.of(
            builtin(TILE, 3, RepeatImporters::tile).uint8AsInt8(),
            builtin(REVERSE_SEQUENCE, 1, RepeatImporters::reverse).uint8AsInt8(),
            builtin(SCATTER_ND, 1, RepeatImporters::scatter));

    private RepeatImporters() {}

    /** Each dimension in turn: the rest of the tensor behind it is repeated as a whole. */
    private static void tile(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int rank = data.shape().rank();
        int[] times = ConstantParameters.ints(operator, "the multiples", operator.input(1), rank);
        operator.require(
                Arrays.stream(times).allMatch(n -> n >= 1),
                "the multiples are " + Arrays.toString(times),
                "1 or more",
                "Export the model without the result, which has no elements");
        operator.require(
                operator.output().dtype() == data.dtype(),
                "it makes " + operator.output().dtype().text() + " of " + data.text(),
                "one type",
                "Export the model again");
        operator.check();
        Formulas f = new Formulas(operator);
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
    private static void reverse(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor lengths = operator.input(1);
        Shape shape = data.shape();
        FlatTable options = operator.requiredOptions(ReverseSequence.TYPE);
        int time = ConstantParameters.axis(operator, options.get(ReverseSequence.SEQ_DIM), shape.rank());
        int batch = ConstantParameters.axis(operator, options.get(ReverseSequence.BATCH_DIM), shape.rank());
        operator.require(
                time != batch
                        && INDEX.contains(lengths.dtype())
                        && lengths.shape().equals(Shape.of(shape.dim(batch))),
                "it reverses dimension " + time + " of " + data.text() + " by the lengths " + lengths.text()
                        + " of dimension " + batch,
                "another dimension, and an int32 or int64 for each batch",
                "Export the model again");
        operator.check();
        if (lengths.isConstant()) {
            requireWithin(operator, operator.constant(lengths), List.of(shape.dim(time) + 1));
        }
        Formulas f = new Formulas(operator);
        Arg step = f.places(Formulas.along(shape.rank(), time, shape.dim(time)), i -> i);
        Arg length = f.reshape(
                f.cast(operator.value(lengths), DType.INT32), Formulas.along(shape.rank(), batch, shape.dim(batch)));
        Arg isInside = f.binary(Binary.Kind.LESS, step, length);
        Arg source = f.where(isInside, f.add(f.subtract(length, step), -1), step);
        Arg flat = f.multiply(source, stride(shape, time));
        for (int axis = 0; axis < shape.rank(); axis++) {
            if (axis != time) {
                int stride = stride(shape, axis);
                flat = f.add(flat, f.places(Formulas.along(shape.rank(), axis, shape.dim(axis)), i -> i * stride));
            }
        }
        Arg elements = f.reshape(operator.value(data), Shape.of(Math.toIntExact(shape.elements())));
        operator.finish(f.take(elements, flat, 0));
    }

    private static int stride(Shape shape, int axis) {
        return product(shape.dims().subList(axis + 1, shape.rank()));
    }

    /**
     * Adds updates to zeros; sums of integers wrap around. Bytes are added as they are, whatever their zero point
     * (reference_ops.h: ScatterNd).
     */
    private static void scatter(OperatorContext operator) {
        TfliteTensor indices = operator.input(0);
        TfliteTensor updates = operator.input(1);
        int[] dims = ConstantParameters.ints(operator, "the shape's dimensions", operator.input(2));
        operator.require(
                Arrays.stream(dims).allMatch(dim -> dim >= 1),
                "the shape's dimensions are " + Arrays.toString(dims),
                "1 or more",
                "Export the model without the result, which has no elements");
        operator.check();
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
                "int32 or int64 indices, and updates for the dimensions that they leave",
                "Export the model again");
        OperandTypes.require(
                operator,
                Set.of(DType.FLOAT32, DType.UINT8, DType.INT8, DType.INT32, DType.INT64, DType.BOOL),
                updates,
                operator.output());
        operator.check();
        if (indices.isConstant()) {
            requireWithin(operator, operator.constant(indices), shape.dims().subList(0, named));
        }
        Formulas f = new Formulas(operator);
        Shape sizes = new Shape(shape.dims().subList(0, named));
        int width = product(shape.dims().subList(named, shape.rank()));
        int count = Math.toIntExact(indices.shape().elements() / named);
        int rows = Math.toIntExact(sizes.elements());
        Arg tuples = f.reshape(f.cast(operator.value(indices), DType.INT32), Shape.of(count, named));
        List<Arg> terms = IntStream.range(0, named)
                .mapToObj(i -> f.multiply(f.slice(tuples, 1, i, i + 1), stride(sizes, i)))
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
