// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.TflCumsum;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Operators along some dimensions: the same along those of the data before it was transposed. */
final class MovedOperators {
    /** An operator on the data in its own order, and the order of its result. */
    private record Moved(Op op, Permutation order) {}

    private MovedOperators() {}

    /** The result from the data in its own order; empty if the operator cannot be moved. */
    static Optional<View> of(Binding binding, Rewriter rewriter) {
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
}
