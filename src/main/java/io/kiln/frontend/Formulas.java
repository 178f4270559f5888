// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.Reinterpret;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * An operator of a model during its import: where calls of the IR's operators are appended, and problems have a place. Those that importers
 * emit most have short names, so that a decomposition reads like its formula.
 */
public interface Formulas {
    /** Appends a call and returns its result. */
    Arg emit(Op op, List<Arg> args);

    /** Appends a call and returns its result. */
    default Arg emit(Op op, Arg... args) {
        return emit(op, List.of(args));
    }

    TensorType type(Arg value);

    /**
     * Ends the import of the operator unless a condition holds.
     *
     * @throws KilnException that names the operator
     */
    void requireThat(boolean holds, String what, String expected);

    KilnException failure(String what, String expected);

    default Shape shape(Arg value) {
        return type(value).shape();
    }

    default DType dtype(Arg value) {
        return type(value).dtype();
    }

    /** A function of each element. */
    default Arg unary(Unary.Kind kind, Arg value) {
        return emit(new Unary(kind), value);
    }

    /** A function of two elements, with broadcasting. */
    default Arg binary(Binary.Kind kind, Arg lhs, Arg rhs) {
        return emit(new Binary(kind), lhs, rhs);
    }

    default Arg add(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.ADD, lhs, rhs);
    }

    default Arg add(Arg lhs, double rhs) {
        return add(lhs, number(rhs, dtype(lhs)));
    }

    default Arg subtract(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.SUBTRACT, lhs, rhs);
    }

    default Arg multiply(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.MULTIPLY, lhs, rhs);
    }

    default Arg multiply(Arg lhs, double rhs) {
        return multiply(lhs, number(rhs, dtype(lhs)));
    }

    default Arg divide(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.DIVIDE, lhs, rhs);
    }

    default Arg abs(Arg value) {
        return unary(Unary.Kind.ABS, value);
    }

    default Arg negate(Arg value) {
        return unary(Unary.Kind.NEGATIVE, value);
    }

    default Arg sqrt(Arg value) {
        return unary(Unary.Kind.SQRT, value);
    }

    default Arg exp(Arg value) {
        return unary(Unary.Kind.EXP, value);
    }

    default Arg log(Arg value) {
        return unary(Unary.Kind.LOG, value);
    }

    default Arg less(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.LESS, lhs, rhs);
    }

    default Arg greater(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.GREATER, lhs, rhs);
    }

    default Arg equal(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.EQUAL, lhs, rhs);
    }

    default Arg and(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.LOGICAL_AND, lhs, rhs);
    }

    default Arg maximum(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.MAXIMUM, lhs, rhs);
    }

    default Arg minimum(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.MINIMUM, lhs, rhs);
    }

    /** An element of the second where the condition is true, otherwise of the third. */
    default Arg where(Arg condition, Arg yes, Arg no) {
        return emit(new Where(), condition, yes, no);
    }

    /** A scalar of a type. */
    default Constant number(double value, DType dtype) {
        boolean isLong = dtype.bytes() >= Integer.BYTES;
        return dtype.isFloat()
                ? Constant.scalar((float) value)
                : Constant.integers(
                        "", new TensorType(Shape.scalar(), dtype), i -> isLong ? (long) value : (int) value);
    }

    default Constant real(double value) {
        return number(value, DType.FLOAT32);
    }

    /** A tensor of int64. */
    default Constant longs(List<Long> values, Shape shape) {
        return Constant.integers("", new TensorType(shape, DType.INT64), values::get);
    }

    /** A tensor of int32. */
    default Constant ints(List<Integer> values, Shape shape) {
        return Constant.integers("", new TensorType(shape, DType.INT32), values::get);
    }

    /**
     * Checks that a table is small enough to be computed, before memory is taken for it.
     *
     * @return how many numbers it has
     */
    default int tableOf(long rows, long columns) {
        int most = 1 << 22;
        long count = Math.multiplyExact(rows, columns);
        requireThat(count <= most, "it needs a table of " + count + " numbers", "at most " + most);
        return (int) count;
    }

    /** A tensor of int32 of a function of the places of its elements. */
    default Constant places(Shape shape, IntUnaryOperator value) {
        tableOf(shape.elements(), 1);
        return Constant.integers("", new TensorType(shape, DType.INT32), value::applyAsInt);
    }

    /** The shape of a vector that lies along one axis. */
    static Shape along(int rank, int axis, int size) {
        List<Integer> dims = new ArrayList<>(Collections.nCopies(rank, 1));
        dims.set(axis, size);
        return new Shape(dims);
    }

    /** A vector of int16. */
    default Constant shorts(int[] values) {
        return Constant.integers("", new TensorType(Shape.of(values.length), DType.INT16), i -> values[i]);
    }

    /** The value limited to a range of its element type. */
    default Arg clip(Arg value, double min, double max) {
        return emit(new Clip(min, max), value);
    }

    /** A tensor of float32. */
    default Constant reals(float[] values, Shape shape) {
        return Constant.reals("", shape, i -> values[i]);
    }

    /** A tensor of float32. */
    default Constant reals(List<? extends Number> values, Shape shape) {
        return Constant.reals("", shape, i -> values.get(i).floatValue());
    }

    /** A tensor of int8. */
    default Constant bytes(byte[] values, Shape shape) {
        return new Constant("", new TensorType(shape, DType.INT8), Bytes.wrap(values));
    }

    /** The value in another element type, by {@link Cast}'s rules; to bool, whether it is not 0. */
    default Arg cast(Arg value, DType dtype) {
        if (dtype(value) == dtype) {
            return value;
        }
        if (dtype == DType.BOOL) {
            DType own = dtype(value);
            if (own.isWideUnsigned() || own == DType.UINT8) {
                return cast(cast(value, own == DType.UINT8 ? DType.INT16 : DType.INT64), dtype);
            }
            return binary(Binary.Kind.NOT_EQUAL, value, number(0, dtype(value)));
        }
        return emit(new Cast(dtype), value);
    }

    /** The value's bits as another type of 32 bits. */
    default Arg reinterpret(Arg value, DType dtype) {
        return emit(new Reinterpret(dtype), value);
    }

    /** Indices as int32. */
    default Arg indices(Arg value) {
        requireThat(dtype(value).isInteger(), "its indices are " + type(value).text(), "integers");
        return cast(value, DType.INT32);
    }

    /** The same elements under other dimensions. */
    default Arg reshape(Arg value, Shape shape) {
        return shape(value).equals(shape) ? value : emit(new Reshape(shape), value);
    }

    /** The same elements under other dimensions. */
    default Arg reshape(Arg value, List<Integer> dims) {
        return reshape(value, new Shape(dims));
    }

    /** Dimensions in another order; {@code axes} as in {@link Transpose}. */
    default Arg transpose(Arg value, List<Integer> axes) {
        boolean isSame = axes.equals(IntStream.range(0, axes.size()).boxed().toList());
        return isSame ? value : emit(new Transpose(axes), value);
    }

    /** The value repeated along dimensions of 1, or along new ones. */
    default Arg broadcast(Arg value, Shape shape) {
        return shape(value).equals(shape) ? value : emit(new BroadcastTo(shape), value);
    }

    /** Tensors one after the other along a dimension. */
    default Arg concatenate(List<Arg> parts, int axis) {
        List<Arg> filled = new ArrayList<>(parts);
        filled.removeIf(part -> parts.size() > 1 && shape(part).elements() == 0);
        List<Arg> joined = filled.isEmpty() ? parts : filled;
        return joined.size() == 1 ? joined.get(0) : emit(new Concatenate(axis, joined.size()), joined);
    }

    /** The elements from an index on, and before another, along a dimension. */
    default Arg slice(Arg value, int axis, int begin, int end) {
        Shape shape = shape(value);
        return begin == 0 && end == shape.dim(axis)
                ? value
                : emit(StridedSlice.along(shape, axis, begin, end, 1), value);
    }

    /** Slices selected by indices of int32 along a dimension. */
    default Arg take(Arg value, Arg indices, int axis) {
        return emit(new Take(axis, 0), value, indices);
    }

    /** The shape to which two shapes broadcast. */
    default Shape broadcastShape(Shape a, Shape b) {
        try {
            return Check.broadcast(a, b);
        } catch (IllegalArgumentException e) {
            throw failure(e.getMessage(), "shapes that broadcast");
        }
    }

    /** A reduction that keeps the dimensions as 1. */
    default Arg reduce(Reduce.Kind kind, Arg value, List<Integer> axes) {
        return emit(new Reduce(kind, axes, true), value);
    }

    /**
     * NumPy's product of matrices of floats: dimensions before the last two broadcast, and a vector is a row or a column.
     * A product with one constant matrix is a fully connected layer.
     */
    default Arg product(Arg lhs, Arg rhs) {
        int leftRank = shape(lhs).rank();
        int rightRank = shape(rhs).rank();
        requireThat(leftRank > 0 && rightRank > 0, "it multiplies a scalar", "vectors, matrices or more");
        Arg a = leftRank == 1 ? reshape(lhs, List.of(1, shape(lhs).dim(0))) : lhs;
        Arg b = rightRank == 1 ? reshape(rhs, List.of(shape(rhs).dim(0), 1)) : rhs;
        boolean isDense = shape(b).rank() == 2 && (b instanceof Constant || shape(a).rank() == 2);
        Arg product = isDense
                ? dense(a, b)
                : emit(new TflBatchMatmul(false, false), a, b, Constant.scalar(0), Constant.scalar(0));
        List<Integer> dims = new ArrayList<>(shape(product).dims());
        if (rightRank == 1) {
            dims.remove(dims.size() - 1);
        }
        if (leftRank == 1) {
            dims.remove(dims.size() - (rightRank == 1 ? 1 : 2));
        }
        return reshape(product, dims);
    }

    private Arg dense(Arg a, Arg b) {
        Shape shape = shape(a);
        int depth = shape.dim(-1);
        Arg rows = reshape(a, List.of(Math.toIntExact(shape.elements() / Math.max(depth, 1)), depth));
        Arg weight = transpose(b, List.of(1, 0));
        int units = shape(weight).dim(0);
        return reshape(emit(new Dense(units), rows, weight), shape.with(-1, units));
    }
}
