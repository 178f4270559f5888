// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

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
        return chain.stream().filter(binding -> type.isInstance(binding.op())).findFirst();
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
