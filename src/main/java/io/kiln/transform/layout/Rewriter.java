// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The function as it is rewritten: new bindings, and each old value as a view of a new one. */
final class Rewriter {
    private final List<Binding> bindings = new ArrayList<>();
    private final Map<Integer, View> views = new HashMap<>();
    private final Map<Integer, TensorType> types;
    private final Map<View, Arg> materialized = new HashMap<>();
    private final ConstantFolder folder;
    private int next;

    Rewriter(Function function) {
        types = function.types();
        folder = new ConstantFolder(function.constantBytes());
        next = types.keySet().stream().mapToInt(id -> id + 1).max().orElse(0);
        types.forEach((id, type) -> views.put(
                id, new View(new Arg.Ref(id), Permutation.identity(type.shape().rank()))));
    }

    /** The bindings so far. */
    List<Binding> bindings() {
        return bindings;
    }

    TensorType type(Arg arg) {
        return arg instanceof Constant constant ? constant.type() : types.get(((Arg.Ref) arg).id());
    }

    Shape shape(Arg arg) {
        return type(arg).shape();
    }

    /** An old value. */
    View view(Arg arg) {
        return arg instanceof Arg.Ref ref
                ? views.get(ref.id())
                : new View(arg, Permutation.identity(shape(arg).rank()));
    }

    void define(int id, View view) {
        views.put(id, view);
    }

    /** Appends an operator call; of constants it is computed at once. */
    Arg emit(Op op, List<Arg> args, Origin origin) {
        TensorType type = op.infer(args.stream().map(this::type).toList());
        if (args.stream().allMatch(Constant.class::isInstance)) {
            return folder.fold(op, args.stream().map(Constant.class::cast).toList(), type, origin.text());
        }
        int id = next++;
        types.put(id, type);
        bindings.add(new Binding(id, op, args, type, origin));
        return new Arg.Ref(id);
    }

    /** Appends an operator call with the id that it had. */
    void keep(Binding binding, List<Arg> args) {
        bindings.add(new Binding(binding.id(), binding.op(), args, binding.type(), binding.origin()));
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
