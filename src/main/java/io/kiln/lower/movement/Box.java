// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.movement;

import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * A part of an output whose elements are at regular distances in one argument: the element at indices {@code begin + i}
 * is the argument's element {@code offset + sum(strides * i)}.
 *
 * @param argument index of the argument
 * @param begin first index along each dimension of the output
 * @param size elements along each dimension
 * @param offset of the argument's element for the box's first
 * @param strides distance in the argument between neighbours along each dimension; 0 if an element is repeated
 */
record Box(int argument, List<Integer> begin, List<Integer> size, long offset, List<Long> strides) {
    Box {
        begin = List.copyOf(begin);
        size = List.copyOf(size);
        strides = List.copyOf(strides);
    }

    /** A box that is the whole output. */
    static Box whole(Shape output, long offset, List<Long> strides) {
        return new Box(0, zeros(output.rank()), output.dims(), offset, strides);
    }

    static List<Integer> zeros(int rank) {
        List<Integer> zeros = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            zeros.add(0);
        }
        return zeros;
    }

    /** Elements between neighbours along each dimension of a row-major tensor. */
    static List<Long> strides(Shape shape) {
        List<Long> strides = new ArrayList<>();
        long stride = 1;
        for (int axis = shape.rank() - 1; axis >= 0; axis--) {
            strides.add(0, stride);
            stride *= shape.dim(axis);
        }
        return strides;
    }

    boolean isEmpty() {
        return size.contains(0);
    }
}
