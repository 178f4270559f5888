// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.Lookups.TflLookup;
import io.kiln.ir.op.element.Lookups.TflLookup16;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.ir.type.Shape;
import io.kiln.reference.ConstantFolder;
import io.kiln.transform.Pass;
import io.kiln.transform.Pipeline.EliminateDeadBindings;
import io.kiln.transform.layout.Rewriter.Permutation;
import io.kiln.transform.layout.Rewriter.View;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Moves transposes towards the results: behind operators that compute the same in another order of dimensions, into
 * the weights of fully connected layers, and into each other. Those that move no element become reshapes.
 *
 * <p>Sums of floats along a dimension keep their order, except in a fully connected layer whose weights take in a
 * transpose: its sums have another order, so that their rounding differs. Integers stay the same bit for bit.
 */
public final class MoveTransposes implements Pass {
    @Override
    public String name() {
        return "move-transposes";
    }

    @Override
    public Function run(Function function) {
        return run(function, new ConstantFolder(function.constantBytes()));
    }

    @Override
    public Function run(Function function, ConstantFolder folder) {
        boolean isNeeded = function.bindings().stream().anyMatch(b -> b.op() instanceof Transpose);
        if (!isNeeded) {
            return function;
        }
        Rewriter rewriter = new Rewriter(function, folder);
        ColumnOrders columns = new ColumnOrders(function, rewriter);
        Map<Integer, Integer> writes = lastWrites(function);
        for (int i = 0; i < function.bindings().size(); i++) {
            Binding binding = function.bindings().get(i);
            boolean isOfChanging = binding.op() instanceof Transpose
                    && rewriter.view(binding.args().get(0)).base() instanceof Arg.Ref data
                    && writes.getOrDefault(data.id(), -1) > i;
            if (isOfChanging) {
                keep(binding, rewriter);
            } else {
                rewrite(binding, rewriter, columns);
            }
        }
        List<Result> results = results(function, rewriter);
        Function rewritten = function.withBindings(rewriter.graph().bindings()).withResults(results);
        return new EliminateDeadBindings().run(rewritten).withIdsInOrder();
    }

    /**
     * The last call that writes each variable: a transpose of what a variable holds stays before it, because whoever reads the transpose later
     * would read the new value.
     */
    private static Map<Integer, Integer> lastWrites(Function function) {
        Map<Integer, Integer> writes = new HashMap<>();
        for (int i = 0; i < function.bindings().size(); i++) {
            Binding binding = function.bindings().get(i);
            for (int position : binding.op().writes()) {
                if (binding.args().get(position) instanceof Arg.Ref variable) {
                    writes.put(variable.id(), i);
                }
            }
        }
        return writes;
    }

    private static void keep(Binding binding, Rewriter rewriter) {
        rewriter.graph()
                .keep(binding.with(binding.args().stream()
                        .map(arg -> rewriter.materialize(arg, binding.origin()))
                        .toList()));
    }

    private static void rewrite(Binding binding, Rewriter rewriter, ColumnOrders columns) {
        if (binding.op() instanceof Transpose transpose) {
            View data = rewriter.view(binding.args().get(0));
            rewriter.define(binding.id(), new View(data.base(), data.order().then(new Permutation(transpose.axes()))));
            return;
        }
        Optional<View> moved = MovedReshape.of(binding, rewriter)
                .or(() -> columns.of(binding))
                .or(() -> product(binding, rewriter))
                .or(() -> along(binding, rewriter))
                .or(() -> elements(binding, rewriter));
        if (moved.isPresent()) {
            rewriter.define(binding.id(), moved.orElseThrow());
        } else {
            keep(binding, rewriter);
        }
    }

    private static List<Result> results(Function function, Rewriter rewriter) {
        Map<Integer, Binding> bindings = function.bindingsById();
        return function.results().stream()
                .map(result -> Optional.ofNullable(bindings.get(result.id()))
                        .map(binding -> result(result, binding.origin(), rewriter))
                        .orElse(result))
                .toList();
    }

    /** A result in memory of its own; that of a variable is the variable's. */
    private static Result result(Result result, Origin origin, Rewriter rewriter) {
        GraphBuilder graph = rewriter.graph();
        Arg value = rewriter.materialize(new Arg.Ref(result.id()), origin);
        Arg.Ref own = graph.isVariable(value) ? graph.copied(value, origin) : graph.own(value, origin);
        return result.of(own.id());
    }

    /** The result in the order of its operands; empty if they have several. */
    private static Optional<View> elements(Binding binding, Rewriter rewriter) {
        int rank = binding.type().shape().rank();
        Optional<Permutation> order = binding.args().stream()
                .map(rewriter::view)
                .map(View::order)
                .filter(o -> !o.isIdentity() && o.rank() == rank)
                .findFirst();
        if (order.isEmpty() || !isElementwise(binding, rewriter)) {
            return Optional.empty();
        }
        List<Arg> args = new ArrayList<>();
        for (int i = 0; i < binding.args().size(); i++) {
            boolean isOperand = i < binding.op().operands();
            Optional<Arg> arg = isOperand
                    ? aligned(binding.args().get(i), order.orElseThrow(), rewriter, binding)
                    : Optional.of(binding.args().get(i));
            if (arg.isEmpty()) {
                return Optional.empty();
            }
            args.add(arg.orElseThrow());
        }
        return Optional.of(new View(rewriter.emit(binding.op(), args, binding.origin()), order.orElseThrow()));
    }

    /** Whether it is of an element-wise kind, and its other arguments are the same for all elements. */
    private static boolean isElementwise(Binding binding, Rewriter rewriter) {
        boolean isTable = binding.op() instanceof TflLookup || binding.op() instanceof TflLookup16;
        boolean isUniform = binding.args().stream()
                .skip(binding.op().operands())
                .allMatch(arg -> arg instanceof Constant && rewriter.shape(arg).elements() == 1);
        return isTable || (binding.op().has(Trait.ELEMENTWISE) && isUniform);
    }

    /** An operand in the order of the data; without a transpose, or as a constant. */
    private static Optional<Arg> aligned(Arg arg, Permutation order, Rewriter rewriter, Binding binding) {
        View view = rewriter.view(arg);
        if (view.order().equals(order)) {
            return Optional.of(view.base());
        }
        Shape shape = rewriter.shape(view.base());
        if (!view.order().isIdentity() || shape.rank() > order.rank()) {
            return Optional.empty();
        }
        if (shape.elements() == 1 && shape.rank() == 0) {
            return Optional.of(view.base());
        }
        List<Integer> dims = new ArrayList<>(Collections.nCopies(order.rank() - shape.rank(), 1));
        dims.addAll(shape.dims());
        Shape whole = new Shape(dims);
        Permutation back = order.inverse();
        if (!(view.base() instanceof Constant) && !back.keepsOrder(whole)) {
            return Optional.empty();
        }
        Arg widened = whole.equals(shape)
                ? view.base()
                : rewriter.emit(new Reshape(whole), List.of(view.base()), binding.origin());
        return Optional.of(rewriter.ordered(widened, back, binding.origin()));
    }

    /** An operator on the data in its own order, and the order of its result. */
    private record Moved(Op op, Permutation order) {}

    /** The result from the data in its own order; empty if the operator cannot be moved. */
    private static Optional<View> along(Binding binding, Rewriter rewriter) {
        if (binding.args().isEmpty()) {
            return Optional.empty();
        }
        View data = rewriter.view(binding.args().get(0));
        if (data.order().isIdentity()) {
            return Optional.empty();
        }
        if (binding.op() instanceof Concatenate join) {
            return concatenated(binding, join, rewriter, data.order());
        }
        return moved(binding, rewriter, data.order()).map(moved -> {
            List<Arg> args = new ArrayList<>(binding.args().stream()
                    .map(arg -> rewriter.materialize(arg, binding.origin()))
                    .toList());
            args.set(0, data.base());
            return new View(rewriter.emit(moved.op, args, binding.origin()), moved.order);
        });
    }

    private static Optional<View> concatenated(
            Binding binding, Concatenate join, Rewriter rewriter, Permutation order) {
        List<Arg> parts = new ArrayList<>();
        for (Arg arg : binding.args()) {
            View view = rewriter.view(arg);
            if (view.order().equals(order)) {
                parts.add(view.base());
            } else if (arg instanceof Constant) {
                parts.add(rewriter.ordered(arg, order.inverse(), binding.origin()));
            } else {
                return Optional.empty();
            }
        }
        Concatenate moved = new Concatenate(order.axes().get(join.axis()), join.arity());
        return Optional.of(new View(rewriter.emit(moved, parts, binding.origin()), order));
    }

    private static Optional<Moved> moved(Binding binding, Rewriter rewriter, Permutation order) {
        Op op = binding.op();
        if (op instanceof Pad pad) {
            return same(new Pad(order.unapply(pad.before()), order.unapply(pad.after())), order);
        }
        if (op instanceof StridedSlice slice) {
            return same(
                    new StridedSlice(
                            order.unapply(slice.begin()), order.unapply(slice.end()), order.unapply(slice.strides())),
                    order);
        }
        if (op instanceof BroadcastTo to && to.shape().rank() == order.rank()) {
            return same(new BroadcastTo(order.inverse().apply(to.shape())), order);
        }
        if (op instanceof TflCumsum sum) {
            return same(new TflCumsum(order.axes().get(sum.axis()), sum.exclusive(), sum.reverse()), order);
        }
        if (op instanceof Softmax && order.axes().get(order.rank() - 1) == order.rank() - 1) {
            return same(op, order);
        }
        if (op instanceof Take take
                && take.batchDims() == 0
                && rewriter.shape(binding.args().get(1)).rank() == 1) {
            return same(new Take(order.axes().get(take.axis()), 0), order);
        }
        if (op instanceof ArgReduce arg) {
            return Optional.of(new Moved(
                    new ArgReduce(arg.largest(), order.axes().get(arg.axis())), order.without(List.of(arg.axis()))));
        }
        return op instanceof Reduce reduce ? reduced(reduce, order) : Optional.empty();
    }

    private static Optional<Moved> same(Op op, Permutation order) {
        return Optional.of(new Moved(op, order));
    }

    /** Only if the elements of a sum keep their order. */
    private static Optional<Moved> reduced(Reduce reduce, Permutation order) {
        List<Integer> axes = reduce.axes().stream().map(order.axes()::get).toList();
        if (!axes.equals(axes.stream().sorted().toList())) {
            return Optional.empty();
        }
        Reduce moved = new Reduce(reduce.kind(), axes, reduce.keepDims());
        return Optional.of(new Moved(moved, reduce.keepDims() ? order : order.without(reduce.axes())));
    }

    /** The product of matrices whose last two dimensions are exchanged. */
    private static Optional<View> product(Binding binding, Rewriter rewriter) {
        if (!(binding.op() instanceof TflBatchMatmul product)) {
            return Optional.empty();
        }
        List<Arg> args = new ArrayList<>();
        boolean[] exchanged = new boolean[2];
        for (int i = 0; i < binding.args().size(); i++) {
            Arg arg = binding.args().get(i);
            View view = rewriter.view(arg);
            boolean isMatrix = i < 2 && !(arg instanceof Constant) && isExchange(view.order());
            if (isMatrix) {
                exchanged[i] = true;
            }
            args.add(isMatrix ? view.base() : rewriter.materialize(arg, binding.origin()));
        }
        if (!exchanged[0] && !exchanged[1]) {
            return Optional.empty();
        }
        TflBatchMatmul moved =
                new TflBatchMatmul(product.transposeA() ^ exchanged[0], product.transposeB() ^ exchanged[1]);
        int rank = binding.type().shape().rank();
        return Optional.of(new View(rewriter.emit(moved, args, binding.origin()), Permutation.identity(rank)));
    }

    private static boolean isExchange(Permutation order) {
        List<Integer> axes = new ArrayList<>(Permutation.identity(order.rank()).axes());
        if (axes.size() < 2) {
            return false;
        }
        Collections.swap(axes, axes.size() - 1, axes.size() - 2);
        return order.axes().equals(axes);
    }

    /**
     * Reshapes of transposed data. Dimensions of 1 come and go freely; neighbouring dimensions are joined if they are
     * neighbours in the data too.
     */
    private static final class MovedReshape {
        private final List<Integer> from = new ArrayList<>();
        private final Shape shape;
        private final Permutation order;
        private final Shape target;

        private MovedReshape(Shape shape, Permutation order, Shape target) {
            this.shape = shape;
            this.order = order;
            this.target = target;
        }

        /** The reshaped data in its own order; empty if elements would move. */
        static Optional<View> of(Binding binding, Rewriter rewriter) {
            if (!(binding.op() instanceof Reshape reshape)) {
                return Optional.empty();
            }
            View data = rewriter.view(binding.args().get(0));
            if (data.order().isIdentity()) {
                return Optional.empty();
            }
            Shape shape = rewriter.shape(data.base());
            if (data.order().keepsOrder(shape)) {
                Arg value = rewriter.emit(reshape, List.of(data.base()), binding.origin());
                return Optional.of(
                        new View(value, Permutation.identity(reshape.shape().rank())));
            }
            MovedReshape moved = new MovedReshape(shape, data.order(), reshape.shape());
            return moved.groups().map(groups -> {
                Permutation result = moved.order(groups);
                Shape own = result.inverse().apply(reshape.shape());
                return new View(rewriter.emit(new Reshape(own), List.of(data.base()), binding.origin()), result);
            });
        }

        /** For each dimension of the target above 1, the first of the data's dimensions that it joins; empty if it cannot. */
        private Optional<List<Integer>> groups() {
            order.axes().stream().filter(axis -> shape.dim(axis) != 1).forEach(from::add);
            List<Integer> groups = new ArrayList<>();
            int at = 0;
            for (int size : target.dims()) {
                if (size == 1) {
                    continue;
                }
                int begin = at;
                long product = 1;
                while (at < from.size() && product < size) {
                    boolean follows = at == begin || isNext(from.get(at - 1), from.get(at));
                    if (!follows) {
                        return Optional.empty();
                    }
                    product *= shape.dim(from.get(at));
                    at++;
                }
                if (product != size) {
                    return Optional.empty();
                }
                groups.add(from.get(begin));
            }
            return Optional.of(groups);
        }

        /** Whether a dimension of the data follows another, but for dimensions of 1. */
        private boolean isNext(int first, int second) {
            return second > first && IntStream.range(first + 1, second).allMatch(i -> shape.dim(i) == 1);
        }

        /** The target's order, its dimensions of 1 unmoved. */
        private Permutation order(List<Integer> groups) {
            List<Integer> places = IntStream.range(0, target.rank())
                    .filter(i -> target.dim(i) != 1)
                    .boxed()
                    .toList();
            List<Integer> sorted = groups.stream().sorted().toList();
            List<Integer> axes =
                    new ArrayList<>(Permutation.identity(target.rank()).axes());
            for (int i = 0; i < groups.size(); i++) {
                axes.set(places.get(i), places.get(sorted.indexOf(groups.get(i))));
            }
            return new Permutation(axes);
        }
    }

    /**
     * Transposed data that is flattened for fully connected layers: it is flattened as it is, and the columns of the
     * constant weights get its order.
     */
    private static final class ColumnOrders {
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
                            .allMatch(
                                    user -> isLayer(user) && user.args().get(0).equals(new Arg.Ref(binding.id())));
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
            Shape dims =
                    order.order.apply(order.shape).with(0, weight.type().shape().dim(0));
            Arg parted = rewriter.emit(new Reshape(dims), List.of(weight), binding.origin());
            Arg moved = rewriter.ordered(parted, order.order.inverse(), binding.origin());
            Constant flat =
                    (Constant) rewriter.emit(new Reshape(weight.type().shape()), List.of(moved), binding.origin());
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
}
