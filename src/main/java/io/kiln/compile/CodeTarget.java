// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ObjectCompiler;
import io.kiln.base.Problems;
import io.kiln.partition.Externals;
import io.kiln.target.CompositeTarget;
import io.kiln.target.MemoryPool;
import io.kiln.target.SpareRam;
import io.kiln.target.Target;
import java.util.List;
import java.util.Optional;

/**
 * What the code of a model is for.
 *
 * @param externals the whole target, and the code generators beside Kiln's own
 * @param pools the memories that the model may use
 * @param objects the compiler of objects, for targets of kind llvm
 */
public record CodeTarget(Externals externals, MemoryPools pools, Optional<ObjectCompiler> objects) {
    /**
     * A target with one memory for the workspace and one for constants.
     *
     * @param text such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4}, or a composite one
     * @param objects the compiler of objects, for targets of kind llvm
     * @throws io.kiln.base.KilnException with all errors of the text
     */
    public static CodeTarget of(String text, Optional<ObjectCompiler> objects) {
        return new CodeTarget(Externals.of(CompositeTarget.parse(text), List.of()), MemoryPools.GLOBAL, objects);
    }

    /** A target of kind c. */
    public static CodeTarget of(String text) {
        return of(text, Optional.empty());
    }

    /** The target of Kiln's own code generator. */
    public Target host() {
        return externals.target().host();
    }

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
}
