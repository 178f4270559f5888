// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.codegen.CodeUnit;
import io.kiln.lower.LoweredOperator;
import io.kiln.target.MemoryPool;
import io.kiln.tir.Buffer;
import io.kiln.tir.Buffer.Scope;
import io.kiln.tir.PrimFunc;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Distributes the tables of operators over memories: those that are read most often for their size lie in the first
 * memory that has room for them. An operator is counted as reading once for each multiply-accumulate and each element
 * of its output.
 */
final class ConstantPlacement {
    /** Tables begin at multiples of it. */
    private static final int ALIGNMENT = 16;

    private final List<MemoryPool> pools;
    private final Map<String, Double> readsPerByte = new HashMap<>();
    private final Map<String, Set<String>> readers;

    /**
     * A placement in memories.
     *
     * @param pools the fastest first
     * @param operators the operators of the code
     * @param readers keys of the targets that read an operator's tables, by the name of its function; the core reads all others
     */
    ConstantPlacement(List<MemoryPool> pools, List<LoweredOperator> operators, Map<String, Set<String>> readers) {
        this.pools = List.copyOf(pools);
        this.readers = Map.copyOf(readers);
        operators.forEach(operator -> readsPerByte.put(operator.function().name(), readsPerByte(operator)));
    }

    /**
     * The same code with tables in their memories.
     *
     * @throws KilnException if the memories do not hold the tables
     */
    CodeUnit place(CodeUnit code) {
        List<PrimFunc> hottestFirst = code.functions().stream()
                .filter(function -> function.constantBytes() > 0)
                .sorted(Comparator.comparingDouble(
                        function -> -readsPerByte.getOrDefault(function.name(), Double.MAX_VALUE)))
                .toList();
        requireReach(code, hottestFirst);
        Map<String, String> chosen = choose(hottestFirst)
                .or(() -> choose(hottestFirst.stream()
                        .sorted(Comparator.comparingInt(
                                function -> reached(function).size()))
                        .toList()))
                .orElseThrow(() -> tooLarge(code));
        return isUsual(chosen)
                ? code
                : code.withFunctions(code.functions().stream()
                        .map(function -> chosen.containsKey(function.name())
                                ? function.withTablesIn(chosen.get(function.name()))
                                : function)
                        .toList());
    }

    /** Whether the tables need no section of a pool: there is one memory, or the first one holds all, as if there were no further one. */
    private boolean isUsual(Map<String, String> chosen) {
        return pools.size() == 1
                || (pools.get(0).name().equals(InterfaceNames.NEAR_CONSTANTS)
                        && chosen.values().stream().allMatch(InterfaceNames.NEAR_CONSTANTS::equals));
    }

    /** The memory of each function's tables, if those that come first leave room for the others. */
    private Optional<Map<String, String>> choose(List<PrimFunc> functions) {
        IdentityHashMap<MemoryPool, Long> free = new IdentityHashMap<>();
        pools.forEach(pool -> free.put(pool, pool.limit().orElse(Long.MAX_VALUE)));
        Map<String, String> chosen = new HashMap<>();
        for (PrimFunc function : functions) {
            Optional<MemoryPool> pool = reached(function).stream()
                    .filter(each -> free.get(each) >= bytes(function))
                    .findFirst();
            if (pool.isEmpty()) {
                return Optional.empty();
            }
            free.merge(pool.get(), -bytes(function), Long::sum);
            chosen.put(function.name(), pool.get().name());
        }
        return Optional.of(chosen);
    }

    private Set<String> readers(PrimFunc function) {
        return readers.getOrDefault(function.name(), Set.of(Artifact.HOST));
    }

    private List<MemoryPool> reached(PrimFunc function) {
        return pools.stream()
                .filter(pool -> pool.reach().covers(readers(function)))
                .toList();
    }

    private void requireReach(CodeUnit code, List<PrimFunc> functions) {
        Problems problems = new Problems(Failure.MEMORY);
        for (PrimFunc function : functions) {
            if (reached(function).isEmpty()) {
                String targets = String.join(" and ", new TreeSet<>(readers(function)));
                problems.add(
                        "the constants of " + function.name() + " (" + bytes(function) + " bytes) are read by "
                                + targets + ", which reaches no memory of constants",
                        where(code),
                        "a memory that " + targets + " reaches; there are " + texts(pools),
                        "Add one to pools.constants of the board, or correct its targets");
            }
        }
        problems.throwIfAny();
    }

    private static String texts(List<MemoryPool> pools) {
        return pools.stream().map(MemoryPool::text).collect(Collectors.joining(", "));
    }

    private static String where(CodeUnit code) {
        return "model `" + code.name() + "`";
    }

    private static double readsPerByte(LoweredOperator operator) {
        long written = operator.function().buffers().stream()
                .filter(buffer -> buffer.scope() == Scope.OUTPUT)
                .mapToLong(Buffer::elements)
                .sum();
        return (double) (operator.executedMacs() + written)
                / Math.max(1, operator.function().constantBytes());
    }

    private static long bytes(PrimFunc function) {
        return function.constants().stream()
                .mapToLong(table -> (table.data().size() + ALIGNMENT - 1L) & -ALIGNMENT)
                .sum();
    }

    private KilnException tooLarge(CodeUnit code) {
        List<PrimFunc> restricted = code.functions().stream()
                .filter(function ->
                        function.constantBytes() > 0 && reached(function).size() < pools.size())
                .toList();
        long needed =
                code.functions().stream().mapToLong(ConstantPlacement::bytes).sum();
        return Failure.MEMORY.exception(
                "the constants take " + needed + " bytes and do not fit in their memory pools"
                        + restricted.stream()
                                .map(function -> "; those of " + function.name() + " (" + bytes(function)
                                        + " bytes) are read by "
                                        + String.join(" and ", new TreeSet<>(readers(function))))
                                .collect(Collectors.joining()),
                where(code),
                "at most " + texts(pools) + ", each operator's constants in one of them",
                "Let the model take more of a memory with kiln.memory.<name>");
    }
}
