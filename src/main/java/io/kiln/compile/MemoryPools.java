// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.Problems;
import io.kiln.target.MemoryPool;
import io.kiln.target.SpareRam;
import java.util.List;

/**
 * The memories that a model may use.
 *
 * @param workspace of the workspace, those to be filled first before the others; all but the last need a limit
 * @param constants of weights and tables, the fastest first; all but the last need a limit
 * @param spare RAM for copies of weights and code
 */
public record MemoryPools(List<MemoryPool> workspace, List<MemoryPool> constants, SpareRam spare) {
    /** One memory for each, without a limit. */
    public static final MemoryPools GLOBAL =
            new MemoryPools(List.of(MemoryPool.GLOBAL_WORKSPACE), List.of(MemoryPool.GLOBAL_CONSTANTS));

    /** Memories without RAM to spare. */
    public MemoryPools(List<MemoryPool> workspace, List<MemoryPool> constants) {
        this(workspace, constants, SpareRam.NONE);
    }

    private static final String WHERE = "compile request";

    public MemoryPools {
        workspace = List.copyOf(workspace);
        constants = List.copyOf(constants);
    }

    /** Finds pools that cannot be filled in their order. */
    void check(Problems problems) {
        check("the workspace", workspace, problems);
        check("constants", constants, problems);
    }

    private static void check(String what, List<MemoryPool> pools, Problems problems) {
        if (pools.isEmpty()) {
            problems.add("there is no memory pool for " + what, WHERE, "one pool or more", "");
        }
        for (MemoryPool pool : pools.subList(0, Math.max(0, pools.size() - 1))) {
            if (pool.limit().isEmpty()) {
                problems.add(
                        "the memory pool `" + pool.name() + "` of " + what
                                + " has no limit, so that those after it stay empty",
                        WHERE,
                        "the most bytes of each pool but the last",
                        "Limit it");
            }
        }
        if (pools.stream().map(MemoryPool::name).distinct().count() < pools.size()) {
            problems.add("two memory pools have one name", WHERE, "a name for each", "");
        }
    }
}
