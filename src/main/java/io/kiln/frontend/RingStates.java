// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Variable;
import io.kiln.ir.op.call.RefWrite;
import io.kiln.ir.op.call.RingWrite;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.StridedSlice;
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
}
