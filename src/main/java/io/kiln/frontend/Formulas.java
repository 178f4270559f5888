// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Check;
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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Short names for the operators that importers emit most, so that a decomposition reads like its formula. */
public class Formulas {
    private static final int MOST_PLACES = 1 << 22;

    private final GraphSite site;

    /** Formulas of one operator of a model. */
    public Formulas(GraphSite site) {
        this.site = site;
    }

    /** Shape of a value. */
    public Shape shape(Arg value) {
        return site.type(value).shape();
    }

    /** Element type of a value. */
    public DType dtype(Arg value) {
        return site.type(value).dtype();
    }

    /** A function of each element. */
    public Arg unary(Unary.Kind kind, Arg value) {
        return site.emit(new Unary(kind), value);
    }

    /** A function of two elements, with broadcasting. */
    public Arg binary(Binary.Kind kind, Arg lhs, Arg rhs) {
        return site.emit(new Binary(kind), lhs, rhs);
    }

    /** A sum. */
    public Arg add(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.ADD, lhs, rhs);
    }

    /** A sum with a number. */
    public Arg add(Arg lhs, double rhs) {
        return add(lhs, number(rhs, dtype(lhs)));
    }

    /** A difference. */
    public Arg subtract(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.SUBTRACT, lhs, rhs);
    }

    /** A product. */
    public Arg multiply(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.MULTIPLY, lhs, rhs);
    }

    /** A product with a number. */
    public Arg multiply(Arg lhs, double rhs) {
        return multiply(lhs, number(rhs, dtype(lhs)));
    }

    /** A quotient. */
    public Arg divide(Arg lhs, Arg rhs) {
        return binary(Binary.Kind.DIVIDE, lhs, rhs);
    }

    /** An element of the second where the condition is true, otherwise of the third. */
    public Arg where(Arg condition, Arg yes, Arg no) {
        return site.emit(new Where(), condition, yes, no);
    }

    /** A scalar of a type. */
    public Constant number(double value, DType dtype) {
        ByteBuffer buffer = ByteBuffer.allocate(dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        switch (dtype) {
            case FLOAT32 -> buffer.putFloat((float) value);
            case INT64, UINT64 -> buffer.putLong((long) value);
            case INT32, UINT32 -> buffer.putInt((int) (long) value);
            case INT16 -> buffer.putShort((short) value);
            case INT8, UINT8, BOOL -> buffer.put((byte) (int) value);
        }
        return new Constant("", new TensorType(Shape.scalar(), dtype), Bytes.wrap(buffer.array()));
    }

    /** A tensor of int64. */
    public Constant longs(List<Long> values, Shape shape) {
        ByteBuffer buffer = ByteBuffer.allocate(Long.BYTES * values.size()).order(ByteOrder.LITTLE_ENDIAN);
        values.forEach(buffer::putLong);
        return new Constant("", new TensorType(shape, DType.INT64), Bytes.wrap(buffer.array()));
    }

    /** A tensor of int32. */
    public Constant ints(List<Integer> values, Shape shape) {
        ByteBuffer buffer = ByteBuffer.allocate(Integer.BYTES * values.size()).order(ByteOrder.LITTLE_ENDIAN);
        values.forEach(buffer::putInt);
        return new Constant("", new TensorType(shape, DType.INT32), Bytes.wrap(buffer.array()));
    }

    /**
     * Checks that a table is small enough to be computed, before memory is taken for it.
     *
     * @return how many numbers it has
     */
    public int tableOf(long rows, long columns) {
        long count = Math.multiplyExact(rows, columns);
        site.requireThat(count <= MOST_PLACES, "it needs a table of " + count + " numbers", "at most " + MOST_PLACES);
        return (int) count;
    }

    /** A tensor of int32 of a function of the places of its elements. */
    public Constant places(Shape shape, IntUnaryOperator value) {
        int count = tableOf(shape.elements(), 1);
        ByteBuffer buffer = ByteBuffer.allocate(Integer.BYTES * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            buffer.putInt(value.applyAsInt(i));
        }
        return new Constant("", new TensorType(shape, DType.INT32), Bytes.wrap(buffer.array()));
    }

    /** The shape of a vector that lies along one axis. */
    public static Shape along(int rank, int axis, int size) {
        List<Integer> dims = new ArrayList<>(Collections.nCopies(rank, 1));
        dims.set(axis, size);
        return new Shape(dims);
    }

    /** A vector of int16. */
    public Constant shorts(int[] values) {
        ByteBuffer buffer = ByteBuffer.allocate(Short.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            buffer.putShort((short) value);
        }
        return new Constant("", new TensorType(Shape.of(values.length), DType.INT16), Bytes.wrap(buffer.array()));
    }

    /** The value limited to a range of its element type. */
    public Arg clip(Arg value, double min, double max) {
        return site.emit(new Clip(min, max), value);
    }

    /** A tensor of float32. */
    public Constant reals(float[] values, Shape shape) {
        ByteBuffer buffer = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            buffer.putFloat(value);
        }
        return new Constant("", new TensorType(shape, DType.FLOAT32), Bytes.wrap(buffer.array()));
    }

    /** The value in another element type, by {@link Cast}'s rules; to bool, whether it is not 0. */
    public Arg cast(Arg value, DType dtype) {
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
        return site.emit(new Cast(dtype), value);
    }

    /** The value's bits as another type of 32 bits. */
    public Arg reinterpret(Arg value, DType dtype) {
        return site.emit(new Reinterpret(dtype), value);
    }

    /** Indices as int32. */
    public Arg indices(Arg value) {
        site.requireThat(
                dtype(value).isInteger(), "its indices are " + site.type(value).text(), "integers");
        return cast(value, DType.INT32);
    }

    /** The same elements under other dimensions. */
    public Arg reshape(Arg value, Shape shape) {
        return shape(value).equals(shape) ? value : site.emit(new Reshape(shape), value);
    }

    /** The same elements under other dimensions. */
    public Arg reshape(Arg value, List<Integer> dims) {
        return reshape(value, new Shape(dims));
    }

    /** Dimensions in another order; {@code axes} as in {@link Transpose}. */
    public Arg transpose(Arg value, List<Integer> axes) {
        boolean isSame = axes.equals(IntStream.range(0, axes.size()).boxed().toList());
        return isSame ? value : site.emit(new Transpose(axes), value);
    }

    /** The value repeated along dimensions of 1, or along new ones. */
    public Arg broadcast(Arg value, Shape shape) {
        return shape(value).equals(shape) ? value : site.emit(new BroadcastTo(shape), value);
    }

    /** Tensors one after the other along a dimension. */
    public Arg concatenate(List<Arg> parts, int axis) {
        List<Arg> filled = new ArrayList<>(parts);
        filled.removeIf(part -> parts.size() > 1 && shape(part).elements() == 0);
        List<Arg> joined = filled.isEmpty() ? parts : filled;
        return joined.size() == 1 ? joined.get(0) : site.emit(new Concatenate(axis, joined.size()), joined);
    }

    /** The elements from an index on, and before another, along a dimension. */
    public Arg slice(Arg value, int axis, int begin, int end) {
        Shape shape = shape(value);
        return begin == 0 && end == shape.dim(axis)
                ? value
                : site.emit(StridedSlice.along(shape, axis, begin, end, 1), value);
    }

    /** Slices selected by indices of int32 along a dimension. */
    public Arg take(Arg value, Arg indices, int axis) {
        return site.emit(new Take(axis, 0), value, indices);
    }

    /** The shape to which two shapes broadcast. */
    public Shape broadcastShape(Shape a, Shape b) {
        try {
            return Check.broadcast(a, b);
        } catch (IllegalArgumentException e) {
            throw site.failure(e.getMessage(), "shapes that broadcast");
        }
    }

    /** A reduction that keeps the dimensions as 1. */
    public Arg reduce(Reduce.Kind kind, Arg value, List<Integer> axes) {
        return site.emit(new Reduce(kind, axes, true), value);
    }

    /**
     * NumPy's product of matrices of floats: dimensions before the last two broadcast, and a vector is a row or a column.
     * A product with one constant matrix is a fully connected layer.
     */
    public Arg product(Arg lhs, Arg rhs) {
        int leftRank = shape(lhs).rank();
        int rightRank = shape(rhs).rank();
        site.requireThat(leftRank > 0 && rightRank > 0, "it multiplies a scalar", "vectors, matrices or more");
        Arg a = leftRank == 1 ? reshape(lhs, List.of(1, shape(lhs).dim(0))) : lhs;
        Arg b = rightRank == 1 ? reshape(rhs, List.of(shape(rhs).dim(0), 1)) : rhs;
        boolean isDense = shape(b).rank() == 2 && (b instanceof Constant || shape(a).rank() == 2);
        Arg product = isDense
                ? dense(a, b)
                : site.emit(new TflBatchMatmul(false, false), a, b, Constant.scalar(0), Constant.scalar(0));
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
        List<Integer> dims = new ArrayList<>(shape.dims());
        dims.set(dims.size() - 1, units);
        return reshape(site.emit(new Dense(units), rows, weight), dims);
    }
}
