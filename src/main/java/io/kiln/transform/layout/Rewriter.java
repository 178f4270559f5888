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
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
}
