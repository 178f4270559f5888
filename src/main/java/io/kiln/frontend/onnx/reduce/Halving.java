// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reduce;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.UnsignedOrder;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.reduce.Reduce;
import java.util.List;

/** Reductions for which the IR has no operator: the halves of an axis are combined until one element is left. */
public final class Halving {
    private static final int MOST_TERMS = 1024;

    private Halving() {}

    /** A reduction by the IR's operator where it takes the type; dimensions stay, as 1. */
    static Arg reduce(Expressions e, Reduce.Kind kind, Binary.Kind combine, Arg data, List<Integer> axes) {
        DType dtype = e.dtype(data);
        boolean isOrder = kind == Reduce.Kind.MAX || kind == Reduce.Kind.MIN;
        if (dtype.isWideUnsigned()) {
            Arg wide = isOrder ? UnsignedOrder.ordered(e, data) : e.cast(data, DType.INT64);
            Arg result = reduce(e, kind, combine, wide, axes);
            return isOrder ? UnsignedOrder.original(e, result, dtype) : e.cast(result, dtype);
        }
        boolean isOwn = dtype.isFloat() || dtype == DType.INT32 || isOrder;
        if (!isOwn) {
            return reduce(e, combine, data, axes);
        }
        return kind == Reduce.Kind.SUM ? sum(e, data, axes) : e.reduce(kind, data, axes);
    }

    /** A sum; one of very many floats is computed axis by axis, so that errors stay small. Dimensions stay, as 1. */
    public static Arg sum(Expressions e, Arg data, List<Integer> axes) {
        long terms = axes.stream().mapToLong(e.shape(data)::dim).reduce(1, (a, b) -> a * b);
        if (terms <= MOST_TERMS || axes.size() == 1) {
            return e.reduce(Reduce.Kind.SUM, data, axes);
        }
        Arg value = data;
        for (int axis : axes) {
            value = e.reduce(Reduce.Kind.SUM, value, List.of(axis));
        }
        return value;
    }

    /** A reduction by a function of two elements; dimensions stay, as 1. */
    static Arg reduce(Expressions e, Binary.Kind combine, Arg data, List<Integer> axes) {
        Arg value = data;
        for (int axis : axes) {
            while (e.shape(value).dim(axis) > 1) {
                value = halved(e, combine, value, axis);
            }
        }
        return value;
    }

    private static Arg halved(Expressions e, Binary.Kind combine, Arg data, int axis) {
        int size = e.shape(data).dim(axis);
        int half = size / 2;
        Arg combined = e.binary(combine, e.slice(data, axis, 0, half), e.slice(data, axis, half, 2 * half));
        return size == 2 * half
                ? combined
                : e.concatenate(List.of(combined, e.slice(data, axis, 2 * half, size)), axis);
    }
}
