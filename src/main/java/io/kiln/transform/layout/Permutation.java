// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * An order of dimensions, as {@link io.kiln.ir.op.movement.Transpose} has it.
 *
 * @param axes for each dimension of the result, that of the data
 */
record Permutation(List<Integer> axes) {
    Permutation {
        axes = List.copyOf(axes);
    }

    static Permutation identity(int rank) {
        return new Permutation(IntStream.range(0, rank).boxed().toList());
    }

    int rank() {
        return axes.size();
    }

    boolean isIdentity() {
        return equals(identity(rank()));
    }

    /** This order, then another. */
    Permutation then(Permutation next) {
        return new Permutation(next.axes.stream().map(axes::get).toList());
    }

    Permutation inverse() {
        List<Integer> inverse = new ArrayList<>(Collections.nCopies(rank(), 0));
        for (int i = 0; i < rank(); i++) {
            inverse.set(axes.get(i), i);
        }
        return new Permutation(inverse);
    }

    /** Values for each dimension of the data, in the order of the result. */
    <T> List<T> apply(List<T> values) {
        return axes.stream().map(values::get).toList();
    }

    /** Values for each dimension of the result, in the order of the data. */
    <T> List<T> unapply(List<T> values) {
        return inverse().apply(values);
    }

    Shape apply(Shape shape) {
        return new Shape(apply(shape.dims()));
    }

    /** Whether elements of data of a shape stay in their order: only dimensions of 1 move. */
    boolean keepsOrder(Shape data) {
        List<Integer> moved = axes.stream().filter(axis -> data.dim(axis) != 1).toList();
        return moved.equals(moved.stream().sorted().toList());
    }

    /** The order without some dimensions of the result. */
    Permutation without(List<Integer> removed) {
        List<Integer> kept = IntStream.range(0, rank())
                .filter(i -> !removed.contains(i))
                .mapToObj(axes::get)
                .toList();
        Function<Integer, Integer> place =
                axis -> (int) kept.stream().filter(other -> other < axis).count();
        return new Permutation(kept.stream().map(place).toList());
    }
}
