// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.artifact.Artifact;
import io.kiln.lower.LoweredOperator;
import io.kiln.memory.MemoryPlan;
import io.kiln.memory.MemoryProblem.PoolBounds;
import io.kiln.memory.MemoryProblem.PoolChoice;
import io.kiln.stream.Program.StoredValue.Place;
import io.kiln.stream.RowGraph.Node;
import io.kiln.stream.RowGraph.Value;
import io.kiln.target.MemoryPool;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

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

    /**
     * The positions of a program's values and scratch in the workspace.
     *
     * @param plan offsets by buffer name: {@link #valueName} and {@link #scratchName}
     * @param bounds the pools into which the plan's address space is divided
     * @param targets keys of the targets that read or write each stored value and scratch, by buffer name
     */
    public record WorkspaceLayout(MemoryPlan plan, PoolBounds bounds, Map<String, Set<String>> targets) {
        public WorkspaceLayout {
            targets = Map.copyOf(targets);
        }

        /** Bytes that are used of all pools: unlike the plan's, they do not include the unused end of a pool before the last. */
        public long bytes() {
            return IntStream.range(0, bounds.pools()).mapToLong(this::bytes).sum();
        }

        /** Offset in bytes of a stored value. */
        public long value(int id) {
            return plan.offset(valueName(id));
        }

        /** Offset in bytes of an operator's scratch. */
        public long scratch(int operator) {
            return plan.offset(scratchName(operator));
        }

        /** Bytes of a pool that are used. */
        public long bytes(int pool) {
            if (bounds.pools() == 1) {
                return plan.bytes();
            }
            return plan.buffers().stream()
                    .filter(buffer -> buffer.bytes() > 0 && bounds.poolOf(plan.offset(buffer.name())) == pool)
                    .mapToLong(buffer -> plan.offset(buffer.name()) + buffer.bytes() - bounds.start(pool))
                    .max()
                    .orElse(0);
        }

        /** Name of a stored value's buffer in the plan. */
        public static String valueName(int id) {
            return "value " + id;
        }

        /** Name of the scratch of an operator in the plan, by index. */
        public static String scratchName(int operator) {
            return "scratch " + operator;
        }
    }
}
