// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.lower.FusedOperator;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Searches for the order of a function's operators in which the fewest bytes of whole values are alive at once. All orders are
 * compared by the sets of operators that they begin with; of more sets than {@link #MOST_SETS} of one size, the best are kept, so that
 * the result is exact for graphs with few branches. Of a graph with hundreds of branches fewer sets are kept, and the first operators that may be
 * next are tried.
 */
final class OperatorOrder {
    private static final int MOST_SETS = 64;

    /** Branches that are tried in any graph. */
    private static final int LEAST_TRIED = 8;

    /** Operators that are looked at, for each set and branch that is tried. */
    private static final long MOST_STEPS = 1L << 29;

    private final List<FusedOperator> operators;
    /** Values are numbered: the function's inputs, then the operators' results. */
    private final int inputs;

    private final long[] bytes;
    private final boolean[] isKept;
    /** Of each operator the values that it reads. */
    private final int[][] read;

    /** Of each value the operators that read it. */
    private final int[][] users;

    private OperatorOrder(Function function, List<FusedOperator> operators, boolean withInputsAndOutputs) {
        this.operators = operators;
        this.inputs = function.params().size();
        this.bytes = new long[inputs + operators.size()];
        this.isKept = new boolean[bytes.length];
        Map<Integer, Integer> numbers = new HashMap<>();
        for (Parameter parameter : function.params()) {
            bytes[numbers.size()] = withInputsAndOutputs ? parameter.type().bytes() : 0;
            numbers.put(parameter.id(), numbers.size());
        }
        for (int i = 0; i < operators.size(); i++) {
            bytes[inputs + i] = operators.get(i).type().bytes();
            numbers.put(operators.get(i).output(), inputs + i);
        }
        function.bindings().stream()
                .filter(binding -> binding.op().has(Trait.VIEW))
                .forEach(view -> numbers.put(view.id(), numbers.get(view.ref(0))));
        this.read = operators.stream()
                .map(operator -> operator.inputs().stream()
                        .mapToInt(numbers::get)
                        .distinct()
                        .toArray())
                .toArray(int[][]::new);
        this.users = users(read, bytes.length);
        for (Result result : function.results()) {
            int value = numbers.get(result.id());
            isKept[value] = true;
            bytes[value] = withInputsAndOutputs ? bytes[value] : 0;
        }
    }

    private static int[][] users(int[][] read, int values) {
        List<IntStream.Builder> users = new ArrayList<>();
        for (int i = 0; i < values; i++) {
            users.add(IntStream.builder());
        }
        for (int i = 0; i < read.length; i++) {
            for (int value : read[i]) {
                users.get(value).add(i);
            }
        }
        return users.stream().map(of -> of.build().toArray()).toArray(int[][]::new);
    }

    /**
     * The operators in a better order.
     *
     * @param withInputsAndOutputs whether they lie in the workspace
     * @return empty if no better one is known, or if operators have effects beside their results, so that they stay in order
     */
    static Optional<List<FusedOperator>> ofLeastPeak(
            Function function, List<FusedOperator> operators, boolean withInputsAndOutputs) {
        boolean hasEffects = !function.variables().isEmpty()
                || !function.functions().isEmpty()
                || operators.stream().anyMatch(op -> op.root().op() instanceof CustomCall);
        if (hasEffects || operators.isEmpty()) {
            return Optional.empty();
        }
        OperatorOrder search = new OperatorOrder(function, operators, withInputsAndOutputs);
        Beginning natural = search.nothing();
        for (int i = 0; i < operators.size(); i++) {
            natural = search.then(natural, i);
        }
        Beginning best = search.best();
        return best.peak < natural.peak
                ? Optional.of(best.order().stream().map(operators::get).toList())
                : Optional.empty();
    }

    /** The first operators of an order. */
    private record Beginning(
            Optional<Beginning> before, int last, BitSet done, List<Integer> ready, long alive, long peak) {
        List<Integer> order() {
            List<Integer> order = new ArrayList<>();
            Beginning at = this;
            while (at.before.isPresent()) {
                order.add(at.last);
                at = at.before.get();
            }
            Collections.reverse(order);
            return order;
        }
    }

    private Beginning nothing() {
        long given = IntStream.range(0, inputs).mapToLong(i -> bytes[i]).sum();
        BitSet none = new BitSet();
        List<Integer> ready = IntStream.range(0, operators.size())
                .filter(i -> isReady(i, none))
                .boxed()
                .toList();
        return new Beginning(Optional.empty(), -1, none, ready, given, given);
    }

    private Beginning best() {
        Collection<Beginning> longest = List.of(nothing());
        long tried = Math.max(1, MOST_STEPS / ((long) operators.size() * operators.size()));
        long branches = Math.max(LEAST_TRIED, tried / MOST_SETS);
        long sets = Math.max(1, Math.min(MOST_SETS, tried / branches));
        for (int count = 0; count < operators.size(); count++) {
            Map<BitSet, Beginning> longer = new LinkedHashMap<>();
            for (Beginning beginning : longest) {
                beginning.ready.stream()
                        .limit(branches)
                        .forEach(next -> longer.merge(
                                with(beginning.done, next),
                                then(beginning, next),
                                (known, other) -> other.peak < known.peak ? other : known));
            }
            longest = longer.values().stream()
                    .sorted(Comparator.comparingLong(Beginning::peak).thenComparingLong(Beginning::alive))
                    .limit(sets)
                    .toList();
        }
        return longest.iterator().next();
    }

    private Beginning then(Beginning beginning, int next) {
        BitSet done = with(beginning.done, next);
        int result = inputs + next;
        long during = beginning.alive + bytes[result];
        long after = during - (isDead(result, done) ? bytes[result] : 0);
        for (int value : read[next]) {
            after -= isDead(value, done) ? bytes[value] : 0;
        }
        List<Integer> ready = new ArrayList<>(beginning.ready);
        ready.remove((Integer) next);
        for (int user : users[result]) {
            if (isReady(user, done)) {
                ready.add(user);
            }
        }
        return new Beginning(Optional.of(beginning), next, done, ready, after, Math.max(beginning.peak, during));
    }

    private boolean isReady(int operator, BitSet done) {
        for (int value : read[operator]) {
            if (value >= inputs && !done.get(value - inputs)) {
                return false;
            }
        }
        return true;
    }

    private boolean isDead(int value, BitSet done) {
        if (isKept[value]) {
            return false;
        }
        for (int user : users[value]) {
            if (!done.get(user)) {
                return false;
            }
        }
        return true;
    }

    private static BitSet with(BitSet done, int next) {
        BitSet more = (BitSet) done.clone();
        more.set(next);
        return more;
    }
}
