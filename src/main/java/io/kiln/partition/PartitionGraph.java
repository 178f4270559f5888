// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.Group.Composite;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import io.kiln.transform.Pass;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Gives operators to other code generators, as TVM's {@code MergeComposite}, {@code AnnotateTarget} and {@code PartitionGraph} do: tables
 * take in order, and within a table patterns in order. Each match becomes a group of its own.
 */
public final class PartitionGraph implements Pass {
    private final List<PatternTable> tables;

    /**
     * A partitioning.
     *
     * @param tables what each code generator takes, by descending priority
     */
    public PartitionGraph(List<PatternTable> tables) {
        this.tables = List.copyOf(tables);
    }

    @Override
    public String name() {
        return "partition-graph";
    }

    @Override
    public Optional<String> whyRequired() {
        return Optional.of("a composite target asks for it; name the host's target alone in kiln.target");
    }

    @Override
    public Function run(Function function) {
        PatternMatcher matcher = new PatternMatcher(function);
        List<Group> groups = new ArrayList<>();
        Set<Integer> taken = new HashSet<>();
        for (PatternTable table : tables) {
            for (CompositePattern pattern : table.patterns()) {
                for (Binding root : function.bindings()) {
                    if (pattern.beginsWith(root.op())) {
                        take(matcher, table, pattern, root, taken).ifPresent(groups::add);
                    }
                }
            }
        }
        Map<Integer, Integer> order = new HashMap<>();
        function.bindings().forEach(binding -> order.put(binding.id(), order.size()));
        groups.sort(Comparator.comparing(group -> order.get(group.output())));
        return function.withGroups(groups);
    }

    private static Optional<Group> take(
            PatternMatcher matcher, PatternTable table, CompositePattern pattern, Binding root, Set<Integer> taken) {
        return matcher.attempt(pattern, root)
                .match()
                .filter(match -> match.chain().stream().map(Binding::id).noneMatch(taken::contains))
                .map(match -> {
                    List<Integer> ids = match.chain().stream().map(Binding::id).toList();
                    taken.addAll(ids);
                    String name = "fused_" + pattern.name().replaceAll("[^A-Za-z0-9_]", "_");
                    return new Group(
                            name, ids, Optional.of(new Composite(table.compiler(), pattern.name(), match.pattern())));
                });
    }

    /**
     * Why a group of Kiln's own was not taken: for each table, the failing condition of every pattern that may begin with its first
     * operator.
     *
     * @param function the function with all groups
     * @return by the id that the group computes
     */
    public Map<Integer, String> stayed(Function function) {
        PatternMatcher matcher = new PatternMatcher(function);
        Map<Integer, Binding> bindings = function.bindingsById();
        Map<Integer, String> reasons = new HashMap<>();
        for (Group group : function.groups()) {
            if (group.composite().isEmpty()) {
                Binding root = bindings.get(group.bindings().get(0));
                List<String> all = tables.stream()
                        .map(table -> reason(matcher, table, root))
                        .toList();
                reasons.put(group.output(), String.join("; ", all));
            }
        }
        return reasons;
    }

    private static String reason(PatternMatcher matcher, PatternTable table, Binding root) {
        List<String> failures = table.patterns().stream()
                .filter(pattern -> pattern.beginsWith(root.op()))
                .map(pattern -> pattern.name() + ": " + failure(matcher.attempt(pattern, root)))
                .distinct()
                .toList();
        return failures.isEmpty()
                ? "no composite of " + table.compiler() + " begins with "
                        + root.op().name()
                : String.join("; ", failures);
    }

    private static String failure(PatternMatcher.Attempt attempt) {
        return attempt.match().isPresent() ? "another composite took its operators" : attempt.failure();
    }

    /** Matches patterns against the operators of one function. */
    private static final class PatternMatcher {
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
                Optional<Binding> next =
                        next(last).filter(binding -> step.accepts().test(binding.op()));
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

    /**
     * The patterns that a code generator takes.
     *
     * @param compiler its name
     * @param patterns its patterns; earlier ones take first
     */
    public record PatternTable(String compiler, List<CompositePattern> patterns) {
        public PatternTable {
            patterns = List.copyOf(patterns);
        }
    }
}
