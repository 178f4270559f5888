// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.op.call.Variables.RingWrite;
import io.kiln.ir.op.element.Lookups.TflLookup;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.OnnxLayers.OnnxSoftmax;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Keeps states as rings: {@code all = concatenate(state, new)}, of which the last elements become the state, moves all of them in every
 * run. Where nothing depends on the order of the elements, as in attention, the state holds {@code all}, and only the new ones are written,
 * over the oldest. Sums are then added in the ring's order: integers stay equal, floats differ by their rounding.
 */
final class RingStates {
    private final Function function;
    private final Map<Integer, TensorType> types;
    private final List<Ring> rings = new ArrayList<>();

    /**
     * A state in this form.
     *
     * @param joined the concatenation
     * @param kept the slice of its last elements
     * @param written what gives them to the variable
     */
    private record Ring(Variable variable, Binding joined, Binding kept, Binding written) {
        int axis() {
            return ((Concatenate) joined.op()).axis();
        }

        boolean has(Binding binding) {
            return binding.id() == joined.id() || binding.id() == kept.id() || binding.id() == written.id();
        }
    }

    private RingStates(Function function) {
        this.function = function;
        this.types = function.types();
    }

    /** The function with rings where they answer the same. */
    static Function of(Function function) {
        RingStates states = new RingStates(function);
        function.variables().forEach(variable -> states.ring(variable).ifPresent(states.rings::add));
        while (!states.rings.isEmpty()) {
            Set<Integer> ordered = states.ordered();
            if (ordered.isEmpty()) {
                return states.rewritten();
            }
            states.rings.removeIf(ring -> ordered.contains(ring.joined.id()));
        }
        return function;
    }

    private Optional<Ring> ring(Variable variable) {
        List<Binding> readers = readers(variable.id());
        boolean isResult = function.results().stream().anyMatch(result -> result.id() == variable.id());
        if (isResult
                || readers.size() != 2
                || !(readers.get(0).op() instanceof Concatenate join)
                || !(readers.get(1).op() instanceof RefWrite)
                || join.arity() != 2
                || !isRef(readers.get(0).args().get(0), variable.id())
                || isRef(readers.get(0).args().get(1), variable.id())
                || !isUniform(variable)) {
            return Optional.empty();
        }
        Binding joined = readers.get(0);
        Shape all = joined.type().shape();
        int added = all.dim(join.axis()) - variable.type().shape().dim(join.axis());
        StridedSlice last = StridedSlice.along(all, join.axis(), added, all.dim(join.axis()), 1);
        return readers(joined.id()).stream()
                .filter(kept -> kept.op().equals(last) && all.dim(join.axis()) % added == 0)
                .filter(kept -> readers(kept.id()).equals(List.of(readers.get(1))))
                .filter(kept -> function.results().stream().noneMatch(result -> result.id() == kept.id()))
                .map(kept -> new Ring(variable, joined, kept, readers.get(1)))
                .findFirst();
    }

    private List<Binding> readers(int id) {
        return function.bindings().stream()
                .filter(binding -> binding.args().stream().anyMatch(arg -> isRef(arg, id)))
                .toList();
    }

    private static boolean isRef(Arg arg, int id) {
        return arg.equals(new Arg.Ref(id));
    }

    private static boolean isUniform(Variable variable) {
        byte[] data = variable.initial().toArray();
        int size = variable.type().dtype().bytes();
        for (int i = size; i < data.length; i++) {
            if (data[i] != data[i - size]) {
                return false;
            }
        }
        return data.length > 0;
    }

    /** The concatenations on whose order something depends. */
    private Set<Integer> ordered() {
        Map<Integer, RingOrder> orders = new HashMap<>();
        Set<Integer> ordered = new HashSet<>();
        for (Binding binding : function.bindings()) {
            Optional<Ring> own =
                    rings.stream().filter(ring -> ring.has(binding)).findFirst();
            List<RingOrder> read = binding.args().stream()
                    .filter(arg -> arg instanceof Arg.Ref ref && orders.containsKey(ref.id()))
                    .map(arg -> orders.get(((Arg.Ref) arg).id()))
                    .toList();
            if (own.isPresent() && own.orElseThrow().joined.id() == binding.id()) {
                read.forEach(order -> ordered.addAll(order.joined()));
                int size = binding.type().shape().dim(own.orElseThrow().axis());
                int added = size
                        - own.orElseThrow()
                                .variable
                                .type()
                                .shape()
                                .dim(own.orElseThrow().axis());
                orders.put(binding.id(), new RingOrder(own.orElseThrow().axis(), size, added, Set.of(binding.id())));
            } else if (own.isEmpty() && !read.isEmpty()) {
                RingOrder.Outcome outcome = RingOrder.after(binding, types, orders);
                if (outcome.isOrdered()) {
                    read.forEach(order -> ordered.addAll(order.joined()));
                }
                outcome.order().ifPresent(order -> orders.put(binding.id(), order));
            }
        }
        function.results().stream()
                .filter(result -> orders.containsKey(result.id()))
                .forEach(result -> ordered.addAll(orders.get(result.id()).joined()));
        return ordered;
    }

    private Function rewritten() {
        List<Variable> variables = new ArrayList<>(function.variables());
        Set<String> names = new HashSet<>();
        variables.forEach(variable -> names.add(variable.name()));
        Map<Integer, Arg> replaced = new HashMap<>();
        Map<Binding, Binding> writes = new HashMap<>();
        int next = types.keySet().stream().mapToInt(id -> id + 1).max().orElse(0);
        TensorType one = new TensorType(Shape.of(1), DType.INT32);
        for (Ring ring : rings) {
            Variable variable = ring.variable;
            TensorType all = ring.joined.type();
            variables.replaceAll(other -> other.id() == variable.id()
                    ? new Variable(variable.id(), variable.name(), all, repeated(variable, all))
                    : other);
            int place = next++;
            String name = GraphBuilder.unused(variable.name() + ".place", names);
            variables.add(new Variable(place, name, one, Bytes.wrap(new byte[Integer.BYTES])));
            replaced.put(ring.joined.id(), new Arg.Ref(variable.id()));
            writes.put(
                    ring.joined,
                    new Binding(
                            ring.joined.id(),
                            new RingWrite(ring.axis()),
                            List.of(ring.joined.args().get(1), new Arg.Ref(variable.id()), new Arg.Ref(place)),
                            TensorType.UNIT,
                            ring.joined.origin()));
        }
        List<Binding> bindings = new ArrayList<>();
        for (Binding binding : function.bindings()) {
            if (writes.containsKey(binding)) {
                bindings.add(writes.get(binding).reading(replaced));
            } else if (rings.stream().noneMatch(ring -> ring.has(binding))) {
                bindings.add(binding.reading(replaced));
            }
        }
        return new Function(
                        function.name(),
                        function.params(),
                        bindings,
                        function.results(),
                        function.groups(),
                        variables,
                        function.functions())
                .withIdsInOrder();
    }

    private static Bytes repeated(Variable variable, TensorType all) {
        byte[] from = variable.initial().toArray();
        byte[] data = new byte[Math.toIntExact(all.bytes())];
        for (int i = 0; i < data.length; i++) {
            data[i] = from[i % from.length];
        }
        return Bytes.wrap(data);
    }

    /**
     * A value whose elements along one axis lie in the order of rings, which is another one in each run.
     *
     * @param size elements of the rings along it
     * @param added how many of them each run writes: rings with the same sizes are always in the same order
     * @param joined ids of the concatenations that would be these rings
     */
    private record RingOrder(int axis, int size, int added, Set<Integer> joined) {
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
                boolean isAlone = binding.args().stream()
                        .skip(1)
                        .noneMatch(arg -> order(arg).isPresent());
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
                return shape.dims().subList(0, end).stream()
                        .mapToLong(dim -> dim)
                        .reduce(1, (a, b) -> a * b);
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
}
