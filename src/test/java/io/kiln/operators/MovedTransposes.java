// SPDX-License-Identifier: Apache-2.0
package io.kiln.operators;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.transform.layout.MoveTransposes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A function whose inputs are transposed, to see behind which operators the transposes are moved. */
final class MovedTransposes {
    private static final int MOST_DIMENSIONS = 4;

    private final Function function;
    private final List<Integer> order;
    private final List<Parameter> params = new ArrayList<>();
    private final List<Binding> bindings = new ArrayList<>();
    private final Map<Arg, Arg> transposed = new HashMap<>();
    private final Set<String> readers = new HashSet<>();

    private MovedTransposes(Function function, List<Integer> order) {
        this.function = function;
        this.order = order;
        function.params().forEach(this::add);
        function.bindings().forEach(this::add);
    }

    /**
     * The names of the operators.
     *
     * @param isAsked whether an operator matters
     */
    static Set<String> past(Function function, Predicate<String> isAsked) {
        if (!function.functions().isEmpty()
                || function.bindings().stream()
                        .noneMatch(binding -> isAsked.test(binding.op().name()))) {
            return Set.of();
        }
        return function.params().stream()
                .map(parameter -> parameter.type().shape().rank())
                .filter(rank -> rank <= MOST_DIMENSIONS)
                .distinct()
                .flatMap(rank -> orders(rank).map(order -> new MovedTransposes(function, order)))
                .flatMap(MovedTransposes::passed)
                .collect(Collectors.toSet());
    }

    /** All orders of dimensions. */
    private static Stream<List<Integer>> orders(int rank) {
        if (rank == 0) {
            return Stream.of(List.of());
        }
        return orders(rank - 1)
                .flatMap(order -> IntStream.range(0, rank).mapToObj(at -> {
                    List<Integer> longer = new ArrayList<>(order);
                    longer.add(at, rank - 1);
                    return longer;
                }));
    }

    private void add(Parameter parameter) {
        Shape shape = parameter.type().shape();
        List<Integer> moved = order.size() != shape.rank()
                ? List.of()
                : IntStream.range(0, shape.rank())
                        .filter(i -> shape.dim(i) > 1)
                        .mapToObj(order::get)
                        .toList();
        if (moved.equals(moved.stream().sorted().toList())) {
            params.add(parameter);
            return;
        }
        List<Integer> given = new ArrayList<>(shape.dims());
        IntStream.range(0, given.size()).forEach(i -> given.set(order.get(i), shape.dim(i)));
        TensorType type = new TensorType(new Shape(given), parameter.type().dtype());
        int id = function.types().keySet().stream().mapToInt(i -> i).max().orElse(0) + 1 + bindings.size();
        Arg.Ref input = new Arg.Ref(parameter.id());
        params.add(new Parameter(parameter.id(), parameter.name(), type, parameter.quantization()));
        bindings.add(new Binding(
                id,
                new Transpose(order),
                List.of(input),
                parameter.type(),
                function.bindings().get(0).origin()));
        transposed.put(input, new Arg.Ref(id));
    }

    private void add(Binding binding) {
        List<Arg> args = binding.args().stream()
                .map(arg -> transposed.getOrDefault(arg, arg))
                .toList();
        if (!args.equals(binding.args())) {
            readers.add(binding.op().name());
        }
        bindings.add(new Binding(binding.id(), binding.op(), args, binding.type(), binding.origin()));
    }

    private Stream<String> passed() {
        if (readers.isEmpty()) {
            return Stream.of();
        }
        Function result = new MoveTransposes()
                .run(new Function(
                        function.name(),
                        params,
                        bindings,
                        function.results(),
                        List.of(),
                        function.variables(),
                        List.of()));
        Map<Integer, Binding> producers = result.bindingsById();
        Set<String> still = result.bindings().stream()
                .filter(binding -> binding.args().stream()
                        .anyMatch(arg -> arg instanceof Arg.Ref ref
                                && producers.containsKey(ref.id())
                                && producers.get(ref.id()).op() instanceof Transpose))
                .map(binding -> binding.op().name())
                .collect(Collectors.toSet());
        return readers.stream().filter(name -> !still.contains(name));
    }
}
