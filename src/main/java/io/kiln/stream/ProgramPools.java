// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.artifact.Artifact;
import io.kiln.lower.LoweredOperator;
import io.kiln.memory.MemoryProblem.PoolChoice;
import io.kiln.memory.PoolBounds;
import io.kiln.stream.RowGraph.Node;
import io.kiln.stream.RowGraph.Value;
import io.kiln.stream.StoredValue.Place;
import io.kiln.target.MemoryPool;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;

/**
 * The pools of a program's values and scratch.
 *
 * @param pools the fastest first
 * @param operators keys of the targets that read and write what an operator takes, by the id that it computes
 * @param spare bytes beyond the least memory that operators may take to compute several rows at once
 */
public record ProgramPools(List<MemoryPool> pools, IntFunction<Set<String>> operators, long spare) {
    /** One pool without a limit, which every target reaches. */
    public static final ProgramPools ONE =
            new ProgramPools(List.of(MemoryPool.GLOBAL_WORKSPACE), id -> Set.of(Artifact.HOST), 0);

    public ProgramPools {
        pools = List.copyOf(pools);
    }

    PoolBounds bounds() {
        return PoolBounds.of(pools.stream().map(MemoryPool::limit).toList());
    }

    /** A pool may hold a buffer if all targets that touch the buffer reach the pool. */
    PoolChoice choice(Map<String, Set<String>> targets) {
        return (pool, buffer) -> pools.get(pool).reach().covers(targets.getOrDefault(buffer.name(), Set.of()));
    }

    /** Keys of the targets that read or write each stored value and scratch, by buffer name. */
    Map<String, Set<String>> targets(RowGraph graph, List<LoweredOperator> lowered) {
        Map<String, Set<String>> targets = new HashMap<>();
        for (int i = 0; i < graph.nodes().size(); i++) {
            Node node = graph.nodes().get(i);
            // What follows the operators are copies, which the core makes.
            Set<String> own =
                    i < lowered.size() ? operators.apply(lowered.get(i).output()) : Set.of(Artifact.HOST);
            add(targets, WorkspaceLayout.scratchName(i), own);
            add(targets, name(graph, node.output()), own);
            node.uses().forEach(use -> add(targets, name(graph, use.value()), own));
        }
        for (Value value : graph.values()) {
            if (value.place() != Place.WORKSPACE) {
                add(targets, WorkspaceLayout.valueName(value.id()), Set.of(Artifact.HOST));
            }
        }
        return targets;
    }

    private static String name(RowGraph graph, int value) {
        return WorkspaceLayout.valueName(graph.values().get(value).id());
    }

    private static void add(Map<String, Set<String>> targets, String buffer, Set<String> keys) {
        targets.computeIfAbsent(buffer, name -> new TreeSet<>()).addAll(keys);
    }
}
