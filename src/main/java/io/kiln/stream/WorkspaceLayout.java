// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.memory.MemoryPlan;
import io.kiln.memory.PoolBounds;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

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
