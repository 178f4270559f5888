// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Reshapes of transposed data. Dimensions of 1 come and go freely; neighbouring dimensions are joined if they are
 * neighbours in the data too.
 */
final class MovedReshape {
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
        List<Integer> axes = new ArrayList<>(Permutation.identity(target.rank()).axes());
        for (int i = 0; i < groups.size(); i++) {
            axes.set(places.get(i), places.get(sorted.indexOf(groups.get(i))));
        }
        return new Permutation(axes);
    }
}
