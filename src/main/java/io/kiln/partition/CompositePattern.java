// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Operators that a code generator computes as one function: each but the first reads the result of the one before it, which nothing
 * else reads, as its first argument.
 *
 * @param name of the composite, {@code <code generator>.<what>}, such as {@code cmsis-nn.qnn_conv2d}
 * @param steps the operators in order; the first one is not optional
 * @param conditions all have to hold
 */
public record CompositePattern(String name, List<PatternStep> steps, List<Condition> conditions) {
    public CompositePattern {
        Objects.requireNonNull(name, "the name of a pattern");
        steps = List.copyOf(steps);
        conditions = List.copyOf(conditions);
        if (steps.isEmpty() || steps.get(0).optional()) {
            throw new IllegalArgumentException("pattern " + name + " has no first operator");
        }
    }

    /** Whether a match may begin with this operator. */
    public boolean beginsWith(Op op) {
        return steps.get(0).accepts().test(op);
    }

    /**
     * One operator of a {@link CompositePattern}.
     *
     * @param relay its Relay name or names, joined by {@code _}, as TVM would state them
     * @param accepts which operators it stands for
     * @param optional whether it may be missing
     */
    public record PatternStep(String relay, Predicate<Op> accepts, boolean optional) {
        public PatternStep {
            Objects.requireNonNull(relay, "the name of an operator");
            Objects.requireNonNull(accepts, "what a step accepts");
        }

        public static PatternStep of(String relay, Class<? extends Op> type) {
            return new PatternStep(relay, type::isInstance, false);
        }

        /** An operator that has to be there, by its {@link Op#name()}. */
        public static PatternStep named(String operator) {
            return new PatternStep(operator, op -> op.name().equals(operator), false);
        }

        /** The same step for an operator that may be missing. */
        public PatternStep orNone() {
            return new PatternStep(relay, accepts, true);
        }
    }

    /**
     * A condition on operators that fit a pattern.
     *
     * @param failure the reason to state if it does not hold, for people, such as {@code the kernel's zero point is not 0}
     * @param holds the condition
     */
    public record Condition(String failure, Predicate<Match> holds) {
        public Condition {
            Objects.requireNonNull(failure, "the failure of a condition");
            Objects.requireNonNull(holds, "a condition");
        }
    }

    /**
     * The operators of a graph that fit a pattern.
     *
     * @param chain the operators; each but the first reads the one before it
     * @param types types of all values of their function, by id
     * @param pattern Relay names of the operators, each followed by {@code _}
     */
    public record Match(List<Binding> chain, Map<Integer, TensorType> types, String pattern) {
        public Match {
            chain = List.copyOf(chain);
            types = Map.copyOf(types);
        }

        /** The first operator. */
        public Binding root() {
            return chain.get(0);
        }

        public TensorType result() {
            return chain.get(chain.size() - 1).type();
        }

        /** The first operator of a class. */
        public Optional<Binding> find(Class<? extends Op> type) {
            return chain.stream()
                    .filter(binding -> type.isInstance(binding.op()))
                    .findFirst();
        }

        public TensorType argument(Binding binding, int position) {
            Arg arg = binding.args().get(position);
            return arg.type(types);
        }

        /** Ids of the values that it reads from outside, each once, in order. */
        public List<Integer> inputs() {
            Set<Integer> own = chain.stream().map(Binding::id).collect(Collectors.toSet());
            return chain.stream()
                    .flatMap(binding -> binding.reads().stream())
                    .filter(id -> !own.contains(id))
                    .distinct()
                    .toList();
        }
    }
}
