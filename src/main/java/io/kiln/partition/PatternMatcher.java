// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Matches patterns against the operators of one function. */
final class PatternMatcher {
    /**
     * The result of matching a pattern at one operator.
     *
     * @param match the operators; empty if they do not fit
     * @param failure why not; empty if they fit
     */
    record Attempt(Optional<Match> match, String failure) {
        private static Attempt failed(String why) {
            return new Attempt(Optional.empty(), why);
        }
    }

    private final Map<Integer, TensorType> types;
    private final Map<Integer, Integer> uses;

    /** The reader of each value by its first argument; meaningful for values that are used once. */
    private final Map<Integer, Binding> readers = new HashMap<>();

    PatternMatcher(Function function) {
        this.types = function.types();
        this.uses = function.useCounts();
        for (Binding binding : function.bindings()) {
            if (binding.args().get(0) instanceof Arg.Ref ref) {
                readers.put(ref.id(), binding);
            }
        }
    }

    /** Matches a pattern whose first step accepts the operator at the root. */
    Attempt attempt(CompositePattern pattern, Binding root) {
        List<Binding> chain = new ArrayList<>(List.of(root));
        List<String> relay = new ArrayList<>(List.of(pattern.steps().get(0).relay()));
        int needed = 1;
        for (PatternStep step : pattern.steps().subList(1, pattern.steps().size())) {
            Binding last = chain.get(chain.size() - 1);
            Optional<Binding> next = next(last).filter(binding -> step.accepts().test(binding.op()));
            if (next.isPresent()) {
                chain.add(next.get());
                relay.add(step.relay());
                needed = step.optional() ? needed : chain.size();
            } else if (!step.optional()) {
                return Attempt.failed(
                        "no " + step.relay() + " alone follows " + last.op().name());
            }
        }
        while (chain.size() > needed && isView(chain.get(chain.size() - 1))) {
            chain.remove(chain.size() - 1);
            relay.remove(relay.size() - 1);
        }
        if (isView(root) || isView(chain.get(chain.size() - 1))) {
            return Attempt.failed("a function neither begins nor ends with a reshape, which moves no data");
        }
        if (chain.stream().anyMatch(binding -> !binding.op().writes().isEmpty())) {
            return Attempt.failed("an operator changes a variable");
        }
        Match match = new Match(chain, types, String.join("_", relay) + "_");
        return pattern.conditions().stream()
                .filter(condition -> !condition.holds().test(match))
                .findFirst()
                .map(condition -> Attempt.failed(condition.failure()))
                .orElseGet(() -> new Attempt(Optional.of(match), ""));
    }

    /** Whether an operator's result is its input, whose memory it shares. */
    private static boolean isView(Binding binding) {
        return binding.op().has(Trait.VIEW);
    }

    private Optional<Binding> next(Binding binding) {
        return uses.getOrDefault(binding.id(), 0) == 1
                ? Optional.ofNullable(readers.get(binding.id()))
                : Optional.empty();
    }
}
