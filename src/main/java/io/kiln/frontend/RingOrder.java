// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.TflLookup;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.OnnxSoftmax;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A value whose elements along one axis lie in the order of rings, which is another one in each run.
 *
 * @param axis the axis
 * @param size elements of the rings along it
 * @param added how many of them each run writes: rings with the same sizes are always in the same order
 * @param joined ids of the concatenations that would be these rings
 */
record RingOrder(int axis, int size, int added, Set<Integer> joined) {
    RingOrder {
        joined = Set.copyOf(joined);
    }

    /**
     * What an operator makes of such values.
     *
     * @param isOrdered whether its result depends on the order otherwise than by having it
     * @param order the result's order, empty if it has the usual one
     */
    record Outcome(boolean isOrdered, Optional<RingOrder> order) {
        private static final Outcome ORDERED = new Outcome(true, Optional.empty());
        private static final Outcome USUAL = new Outcome(false, Optional.empty());

        private static Outcome of(RingOrder order) {
            return new Outcome(false, Optional.of(order));
        }
    }

    /** What an operator that reads one or more such values makes of them. */
    static Outcome after(Binding binding, Map<Integer, TensorType> types, Map<Integer, RingOrder> orders) {
        return new Reader(binding, types, orders).outcome();
    }

    private RingOrder at(int newAxis) {
        return new RingOrder(newAxis, size, added, joined);
    }

    private boolean isInStep(RingOrder other) {
        return size == other.size && added == other.added;
    }

    private RingOrder with(RingOrder other) {
        Set<Integer> all = new HashSet<>(joined);
        all.addAll(other.joined);
        return new RingOrder(axis, size, added, all);
    }

    private record Reader(Binding binding, Map<Integer, TensorType> types, Map<Integer, RingOrder> orders) {
        Outcome outcome() {
            Op op = binding.op();
            if (op.has(Trait.ELEMENTWISE)) {
                return elementwise();
            }
            if (op instanceof TflBatchMatmul product) {
                int a = shape(0).rank();
                int b = shape(1).rank();
                return product(product.transposeA() ? a - 2 : a - 1, product.transposeB() ? b - 1 : b - 2);
            }
            if (op instanceof Dense) {
                return product(1, 1);
            }
            Optional<RingOrder> first = order(0);
            boolean isAlone =
                    binding.args().stream().skip(1).noneMatch(arg -> order(arg).isPresent());
            return first.isPresent() && isAlone ? alone(op, first.orElseThrow()) : Outcome.ORDERED;
        }

        /** An operator of one value, with scalars beside it. */
        private Outcome alone(Op op, RingOrder order) {
            if (op instanceof Transpose transpose) {
                return Outcome.of(order.at(transpose.axes().indexOf(order.axis)));
            }
            if (op instanceof Reshape) {
                return reshaped(order);
            }
            if (op instanceof Reduce reduce) {
                return reduced(reduce, order);
            }
            boolean hasScalars = binding.args().stream()
                    .skip(1)
                    .allMatch(arg -> arg.type(types).shape().elements() == 1);
            boolean isTable = op instanceof TflLookup || op instanceof TflSoftmax;
            // It adds floats and gives integers: the order of a sum's terms is seen.
            boolean isRows = op instanceof OnnxSoftmax && order.axis < shape(0).rank() - 1;
            boolean isKept = isTable
                    || isRows
                    || op instanceof Softmax
                    || op instanceof Copy
                    || (hasScalars && (op instanceof OnnxRequantize || op instanceof TflRealRequantize));
            return isKept ? Outcome.of(order) : Outcome.ORDERED;
        }

        private Outcome reshaped(RingOrder order) {
            Shape from = shape(0);
            Shape to = binding.type().shape();
            long before = count(from, order.axis);
            for (int axis = 0; axis < to.rank(); axis++) {
                if (count(to, axis) == before && to.dim(axis) == order.size) {
                    return Outcome.of(order.at(axis));
                }
            }
            return Outcome.ORDERED;
        }

        private static long count(Shape shape, int end) {
            return shape.dims().subList(0, end).stream().mapToLong(dim -> dim).reduce(1, (a, b) -> a * b);
        }

        private Outcome reduced(Reduce reduce, RingOrder order) {
            int rank = shape(0).rank();
            List<Integer> axes = reduce.axes().stream()
                    .map(axis -> axis < 0 ? axis + rank : axis)
                    .toList();
            if (axes.contains(order.axis)) {
                return Outcome.USUAL;
            }
            long removed = reduce.keepDims()
                    ? 0
                    : axes.stream().filter(axis -> axis < order.axis).count();
            return Outcome.of(order.at(order.axis - (int) removed));
        }

        /** Operands that are as long along the axis must have the same order; others must not vary along it. */
        private Outcome elementwise() {
            int rank = binding.type().shape().rank();
            Optional<RingOrder> common = Optional.empty();
            for (int i = 0; i < binding.args().size(); i++) {
                Optional<RingOrder> own = order(i);
                if (own.isPresent()) {
                    RingOrder aligned = own.orElseThrow().at(own.orElseThrow().axis + rank - shape(i).rank());
                    if (common.filter(other -> other.axis != aligned.axis || !other.isInStep(aligned))
                            .isPresent()) {
                        return Outcome.ORDERED;
                    }
                    common = Optional.of(common.map(aligned::with).orElse(aligned));
                }
            }
            RingOrder order = common.orElseThrow();
            for (int i = 0; i < binding.args().size(); i++) {
                int axis = order.axis - rank + shape(i).rank();
                boolean varies =
                        i < binding.op().operands() ? axis >= 0 && shape(i).dim(axis) > 1 : shape(i).elements() > 1;
                if (order(i).isEmpty() && varies) {
                    return Outcome.ORDERED;
                }
            }
            return Outcome.of(order);
        }

        /** A product of matrices that sums along one axis of each. */
        private Outcome product(int summedA, int summedB) {
            Optional<RingOrder> a = order(0);
            Optional<RingOrder> b = order(1);
            boolean isSummedA = a.filter(order -> order.axis == summedA).isPresent();
            boolean isSummedB = b.filter(order -> order.axis == summedB).isPresent();
            if (isSummedA && isSummedB) {
                return a.orElseThrow().isInStep(b.orElseThrow()) ? Outcome.USUAL : Outcome.ORDERED;
            }
            boolean isOne = a.isPresent() ^ b.isPresent();
            int rank = binding.type().shape().rank();
            if (isOne && a.isPresent() && a.orElseThrow().axis == free(0, summedA)) {
                return Outcome.of(a.orElseThrow().at(rank - 2));
            }
            if (isOne && b.isPresent() && b.orElseThrow().axis == free(1, summedB)) {
                return Outcome.of(b.orElseThrow().at(rank - 1));
            }
            return Outcome.ORDERED;
        }

        /** The other one of an operand's last two axes. */
        private int free(int operand, int summed) {
            return 2 * shape(operand).rank() - 3 - summed;
        }

        private Shape shape(int index) {
            return binding.args().get(index).type(types).shape();
        }

        private Optional<RingOrder> order(int index) {
            return order(binding.args().get(index));
        }

        private Optional<RingOrder> order(Arg arg) {
            return arg instanceof Arg.Ref ref ? Optional.ofNullable(orders.get(ref.id())) : Optional.empty();
        }
    }
}
