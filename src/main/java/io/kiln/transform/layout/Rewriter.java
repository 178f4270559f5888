// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** The function as it is rewritten: new bindings, and each old value as a view of a new one. */
final class Rewriter {
    private final GraphBuilder graph;
    private final Map<Integer, View> views = new HashMap<>();
    private final Map<View, Arg> materialized = new HashMap<>();

    Rewriter(Function function, ConstantFolder folder) {
        graph = new GraphBuilder(function, folder);
    }

    /** Builds the new bindings. */
    GraphBuilder graph() {
        return graph;
    }

    Shape shape(Arg arg) {
        return graph.type(arg).shape();
    }

    /** An old value. */
    View view(Arg arg) {
        View same = new View(arg, Permutation.identity(shape(arg).rank()));
        return arg instanceof Arg.Ref ref ? views.getOrDefault(ref.id(), same) : same;
    }

    void define(int id, View view) {
        views.put(id, view);
    }

    /** Appends an operator call; of constants it is computed at once. */
    Arg emit(Op op, List<Arg> args, Origin origin) {
        return graph.emit(op, args, origin);
    }

    /** An old value in its own order of dimensions, transposed at most once. */
    Arg materialize(Arg arg, Origin origin) {
        View view = view(arg);
        if (view.order().isIdentity()) {
            return view.base();
        }
        Arg known = materialized.get(view);
        if (known == null) {
            known = ordered(view.base(), view.order(), origin);
            materialized.put(view, known);
        }
        return known;
    }

    /** A value in another order of dimensions: a reshape if no element moves. */
    Arg ordered(Arg base, Permutation order, Origin origin) {
        Shape shape = shape(base);
        Op op = order.keepsOrder(shape) ? new Reshape(order.apply(shape)) : new Transpose(order.axes());
        return order.isIdentity() ? base : emit(op, List.of(base), origin);
    }

    /**
     * A value that is another value with its dimensions in another order. A transpose is emitted only if an operator needs that order.
     *
     * @param base the other value
     * @param order the order
     */
    record View(Arg base, Permutation order) {}

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
            List<Integer> moved =
                    axes.stream().filter(axis -> data.dim(axis) != 1).toList();
            return moved.equals(moved.stream().sorted().toList());
        }

        /** The order without some dimensions of the result. */
        Permutation without(List<Integer> removed) {
            List<Integer> kept = IntStream.range(0, rank())
                    .filter(i -> !removed.contains(i))
                    .mapToObj(axes::get)
                    .toList();
            UnaryOperator<Integer> place =
                    axis -> (int) kept.stream().filter(other -> other < axis).count();
            return new Permutation(kept.stream().map(place).toList());
        }
    }
}
