// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.movement;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Indices into a tensor's elements in their order. */
public final class FlatIndices {
    private FlatIndices() {}

    /**
     * Refuses constant indices that lie outside of the data; generated code would read beyond it.
     *
     * @param sizes of the axes that the indices count along, in turn
     */
    static void requireWithin(NodeContext node, int input, List<Integer> sizes) {
        if (!(node.arg(input) instanceof Constant indices)) {
            return;
        }
        for (int i = 0; i < indices.elements(); i++) {
            int size = sizes.get(i % sizes.size());
            node.require(
                    indices.integer(i) >= -size && indices.integer(i) < size,
                    "its index " + indices.integer(i) + " lies outside of its data "
                            + node.shape(0).text(),
                    -size + " to " + (size - 1));
        }
    }

    /** Indices as int32, negative ones counted from the end. */
    static Arg counted(Expressions e, Arg indices, int size) {
        Arg index = e.indices(indices);
        Arg fromEnd = e.add(index, size);
        Arg zero = e.number(0, DType.INT32);
        return e.where(e.binary(Binary.Kind.LESS, index, zero), fromEnd, index);
    }

    /** The tensor as a vector. */
    public static Arg flat(Expressions e, Arg data) {
        return e.reshape(data, List.of(Math.toIntExact(e.shape(data).elements())));
    }

    /** For each element of the indices, the place of the element of the data that differs from it along one axis only. */
    public static Arg ofElements(Expressions e, Arg indices, Shape data, int axis) {
        Shape shape = e.shape(indices);
        Arg flat = e.multiply(counted(e, indices, data.dim(axis)), stride(data, axis));
        for (int i = 0; i < data.rank(); i++) {
            if (i != axis) {
                int stride = stride(data, i);
                flat = e.add(flat, e.places(Expressions.along(data.rank(), i, shape.dim(i)), k -> k * stride));
            }
        }
        return flat;
    }

    /** The places that tuples along the last axis stand for, among the elements of some dimensions. */
    static Arg ofTuples(Expressions e, Arg indices, List<Integer> dims) {
        Shape shape = e.shape(indices);
        Shape sizes = new Shape(dims);
        Arg index = e.indices(indices);
        Arg zero = e.number(0, DType.INT32);
        Arg fromEnd = e.add(index, e.ints(dims, Shape.of(dims.size())));
        Arg counted = e.where(e.binary(Binary.Kind.LESS, index, zero), fromEnd, index);
        List<Integer> strides = new ArrayList<>();
        for (int i = 0; i < dims.size(); i++) {
            strides.add(stride(sizes, i));
        }
        Arg places = e.multiply(counted, e.ints(strides, Shape.of(strides.size())));
        Arg sum = e.reduce(Reduce.Kind.SUM, places, List.of(shape.rank() - 1));
        return e.reshape(sum, shape.dims().subList(0, shape.rank() - 1));
    }

    private static int stride(Shape shape, int axis) {
        return shape.dims().subList(axis + 1, shape.rank()).stream().reduce(1, (a, b) -> a * b);
    }
}
