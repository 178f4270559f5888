// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks and shape rules common to operators. */
public final class Check {
    private Check() {}

    public static void that(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }

    /** For frequent checks, whose message is built only if needed. */
    private static void that(boolean holds, Supplier<String> message) {
        if (!holds) {
            throw new IllegalArgumentException(message.get());
        }
    }

    public static void arity(String name, int arity, List<TensorType> args) {
        that(args.size() == arity, () -> name + " takes " + arity + " arguments, not " + args.size());
    }

    public static void rank(String what, TensorType type, int rank) {
        that(
                type.shape().rank() == rank,
                () -> what + " must have rank " + rank + ", not " + type.shape().text());
    }

    public static void dtype(String what, TensorType type, DType dtype) {
        that(
                type.dtype() == dtype,
                () -> what + " must be " + dtype.text() + ", not "
                        + type.dtype().text());
    }

    public static void oneOf(String what, TensorType type, Set<DType> dtypes) {
        that(
                dtypes.contains(type.dtype()),
                () -> what + " must be "
                        + dtypes.stream().sorted().map(DType::text).collect(Collectors.joining(" or ")) + ", not "
                        + type.dtype().text());
    }

    /** Data whose elements are compared: floats or signed integers. */
    public static void ordered(Op op, TensorType data) {
        that(
                !data.dtype().isWideUnsigned(),
                () -> op.name() + " of " + data.dtype().text() + " is not supported");
    }

    public static void axis(TensorType type, int axis) {
        int rank = type.shape().rank();
        that(axis >= -rank && axis < rank, () -> "axis " + axis + " is not one of " + type.text());
    }

    /** Data with elements, as vectors along the last axis. */
    public static void vectors(TensorType type) {
        that(
                type.shape().rank() >= 1 && type.shape().elements() > 0,
                () -> "data must have at least one dimension and one element, not " + type.text());
    }

    public static Shape vector(long elements) {
        that(elements <= Integer.MAX_VALUE, () -> "a vector cannot have " + elements + " elements");
        return Shape.of((int) elements);
    }

    /** A variable of the operator's state type. */
    public static void state(TensorType type, TensorType expected) {
        that(type.equals(expected), () -> "the state must be " + expected.text() + ", not " + type.text());
    }

    /** A scalar, or a vector of one element per channel. */
    public static void perAxis(String what, TensorType type, int channels) {
        long elements = type.shape().elements();
        that(
                type.shape().rank() <= 1 && (elements == 1 || elements == channels),
                () -> what + " must have " + (channels == 1 ? "" : "1 or ") + channels + " elements, not "
                        + type.shape().text());
    }

    /** Integers are summed as int32, int16 also as int64, float32 as itself. */
    public static void accumulator(String op, TensorType data, DType outDtype) {
        boolean fits = switch (data.dtype()) {
            case FLOAT32 -> outDtype == DType.FLOAT32;
            case INT16 -> outDtype == DType.INT32 || outDtype == DType.INT64;
            default -> outDtype == DType.INT32;
        };
        that(
                fits,
                () -> op + " of this data, " + data.dtype().text() + ", is not supported with sums of "
                        + outDtype.text());
    }

    /** Number of variables that two lists refer to by index. */
    public static int variables(List<Integer> first, List<Integer> second) {
        return 1
                + Stream.concat(first.stream(), second.stream())
                        .mapToInt(i -> i)
                        .max()
                        .orElse(-1);
    }

    /** A dimension computed as a sum. */
    public static int dimension(long sum) {
        that(sum <= Integer.MAX_VALUE, () -> "a dimension of " + sum + " is beyond 32 bits");
        return (int) sum;
    }

    /** Data from which a result with elements can be computed. */
    public static void elements(Op op, TensorType data) {
        that(data.shape().elements() > 0, () -> op.name() + " of " + data.text() + ", which has no elements");
    }

    /** NumPy's broadcasting rule; 1 broadcasts to 0 too. */
    public static Shape broadcast(Shape a, Shape b) {
        int rank = Math.max(a.rank(), b.rank());
        List<Integer> dims = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            int da = i < a.rank() ? a.dim(a.rank() - 1 - i) : 1;
            int db = i < b.rank() ? b.dim(b.rank() - 1 - i) : 1;
            that(da == db || da == 1 || db == 1, () -> "shapes " + a.text() + " and " + b.text() + " do not broadcast");
            dims.add(da == 1 ? db : da);
        }
        Collections.reverse(dims);
        return new Shape(dims);
    }

    /** The shape to which all of some tensors broadcast. */
    public static Shape broadcast(List<TensorType> tensors) {
        return tensors.stream().map(TensorType::shape).reduce(Check::broadcast).orElseThrow();
    }
}
