// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.codegen.CodeUnit;
import io.kiln.lower.LoweredOperator;
import io.kiln.target.MemoryPool;
import io.kiln.tir.Buffer;
import io.kiln.tir.Buffer.Scope;
import io.kiln.tir.PrimFunc;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Distributes the tables of operators over memories: those that are read most often for their size lie in the first
 * memory that has room for them. An operator is counted as reading once for each multiply-accumulate and each element
 * of its output.
 */
final class ConstantPlacement {
    /** Tables begin at multiples of it. */
    private static final int ALIGNMENT = 16;

    private ConstantPlacement() {}

    /**
     * The same code with tables in their memories.
     *
     * @param pools the fastest first
     * @param operators the operators of the code
     * @throws KilnException if the memories do not hold the tables
     */
    static CodeUnit place(CodeUnit code, List<MemoryPool> pools, List<LoweredOperator> operators) {
        Map<String, String> chosen = choose(code, pools, operators);
        return pools.size() == 1
                ? code
                : code.withFunctions(code.functions().stream()
                        .map(function -> chosen.containsKey(function.name())
                                ? function.withTablesIn(chosen.get(function.name()))
                                : function)
                        .toList());
    }

    /** The memory of each function's tables. */
    private static Map<String, String> choose(CodeUnit code, List<MemoryPool> pools, List<LoweredOperator> operators) {
        Map<String, Double> readsPerByte = new HashMap<>();
        operators.forEach(operator -> readsPerByte.put(operator.function().name(), readsPerByte(operator)));
        long[] free = pools.stream()
                .mapToLong(pool -> pool.limit().orElse(Long.MAX_VALUE))
                .toArray();
        Map<String, String> chosen = new HashMap<>();
        List<PrimFunc> hottestFirst = code.functions().stream()
                .filter(function -> function.constantBytes() > 0)
                .sorted(Comparator.comparingDouble(
                        function -> -readsPerByte.getOrDefault(function.name(), Double.MAX_VALUE)))
                .toList();
        for (PrimFunc function : hottestFirst) {
            int pool = 0;
            while (pool < free.length && free[pool] < bytes(function)) {
                pool++;
            }
            if (pool == free.length) {
                throw tooLarge(code, pools);
            }
            free[pool] -= bytes(function);
            chosen.put(function.name(), pools.get(pool).name());
        }
        return chosen;
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

    private static KilnException tooLarge(CodeUnit code, List<MemoryPool> pools) {
        long needed =
                code.functions().stream().mapToLong(ConstantPlacement::bytes).sum();
        long limit = pools.stream()
                .map(MemoryPool::limit)
                .mapToLong(OptionalLong::orElseThrow)
                .sum();
        return new KilnException(new Problem(
                "the constants take " + needed + " bytes and do not fit in their memory pools",
                "model `" + code.name() + "`",
                "at most " + limit + " bytes in "
                        + pools.stream().map(MemoryPool::name).toList() + ", each operator's constants in one of them",
                "Let the model take more of a memory with kiln.memory.<name>"));
    }
}
