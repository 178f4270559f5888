// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Transposed data that is flattened for fully connected layers: it is flattened as it is, and the columns of the
 * constant weights get its order.
 */
final class ColumnOrders {
    /** Data in its own order: its shape, and the order in which the layer expects its elements. */
    private record Columns(Shape shape, Permutation order) {}

    private final Rewriter rewriter;
    private final Map<Integer, List<Binding>> readers = new HashMap<>();
    private final Map<Integer, Columns> columns = new HashMap<>();

    ColumnOrders(Function function, Rewriter rewriter) {
        this.rewriter = rewriter;
        for (Binding binding : function.bindings()) {
            for (int id : binding.reads()) {
                readers.computeIfAbsent(id, key -> new ArrayList<>()).add(binding);
            }
        }
        function.results().forEach(r -> readers.remove(r.id()));
    }

    /** The result of a flattening, or of a layer that reads one. */
    Optional<View> of(Binding binding) {
        if (binding.op() instanceof Reshape reshape) {
            return flattened(binding, reshape);
        }
        boolean isLayer =
                isLayer(binding) && binding.args().get(0) instanceof Arg.Ref ref && columns.containsKey(ref.id());
        return isLayer ? Optional.of(layer(binding)) : Optional.empty();
    }

    private Optional<View> flattened(Binding binding, Reshape reshape) {
        View data = rewriter.view(binding.args().get(0));
        Shape shape = rewriter.shape(data.base());
        Shape target = reshape.shape();
        List<Binding> users = readers.getOrDefault(binding.id(), List.of());
        boolean fits = !data.order().isIdentity()
                && target.rank() == 2
                && data.order().axes().get(0) == 0
                && target.dim(0) == shape.dim(0)
                && !users.isEmpty()
                && users.stream()
                        .allMatch(user -> isLayer(user) && user.args().get(0).equals(new Arg.Ref(binding.id())));
        if (!fits) {
            return Optional.empty();
        }
        columns.put(binding.id(), new Columns(shape, data.order()));
        Arg flat = rewriter.emit(reshape, List.of(data.base()), binding.origin());
        return Optional.of(new View(flat, Permutation.identity(2)));
    }

    private static boolean isLayer(Binding binding) {
        boolean isDense = binding.op() instanceof Dense || binding.op() instanceof QnnDense;
        return isDense && binding.args().get(1) instanceof Constant;
    }

    private View layer(Binding binding) {
        Columns order = columns.get(binding.ref(0));
        Constant weight = binding.constant(1);
        List<Integer> dims = new ArrayList<>(order.order.apply(order.shape).dims());
        dims.set(0, weight.type().shape().dim(0));
        Arg parted = rewriter.emit(new Reshape(new Shape(dims)), List.of(weight), binding.origin());
        Arg moved = rewriter.ordered(parted, order.order.inverse(), binding.origin());
        Constant flat = (Constant) rewriter.emit(new Reshape(weight.type().shape()), List.of(moved), binding.origin());
        List<Arg> args = new ArrayList<>();
        for (int i = 0; i < binding.args().size(); i++) {
            args.add(
                    i == 1
                            ? new Constant(weight.name(), weight.type(), flat.data())
                            : rewriter.materialize(binding.args().get(i), binding.origin()));
        }
        Arg value = rewriter.emit(binding.op(), args, binding.origin());
        return new View(value, Permutation.identity(binding.type().shape().rank()));
    }
}
