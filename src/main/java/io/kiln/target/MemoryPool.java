// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import io.kiln.base.Failure;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * Memory that holds a model's workspace, or its constants.
 *
 * @param name lower-case C name, part of the names of structs, macros and linker sections
 * @param alignment alignment of its first byte: a power of two from 16 to 256
 * @param limit the most bytes that a model may take; empty if it may take what it needs
 * @param reach the targets that read and write it
 */
public record MemoryPool(String name, int alignment, OptionalLong limit, MemoryReach reach) {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,62}");
    private static final int LEAST_ALIGNMENT = 16;
    private static final int MOST_ALIGNMENT = 256;

    /** The default pool of a model. Its alignment suffices for vector loads on all cores; its name is microTVM's. */
    public static final MemoryPool GLOBAL_WORKSPACE = new MemoryPool("global_workspace", 16);

    /** The default pool of weights and tables, named as in microTVM. */
    public static final MemoryPool GLOBAL_CONSTANTS = new MemoryPool("global_const_workspace", 16);

    /** A pool that every target reaches, and of which a model may take what it needs. */
    public MemoryPool(String name, int alignment) {
        this(name, alignment, OptionalLong.empty(), MemoryReach.ALL);
    }

    public MemoryPool {
        if (!NAME.matcher(name).matches()) {
            throw Failure.MEMORY.exception(
                    "`" + name + "` is not a valid name of a memory pool",
                    "compile request",
                    "a lower-case letter, then letters, digits and underscores",
                    "");
        }
        if (Integer.bitCount(alignment) != 1 || alignment < LEAST_ALIGNMENT || alignment > MOST_ALIGNMENT) {
            throw Failure.MEMORY.exception(
                    "the memory pool `" + name + "` is aligned to " + alignment + " bytes",
                    "compile request",
                    "a power of two from " + LEAST_ALIGNMENT + " to " + MOST_ALIGNMENT,
                    "");
        }
    }

    /** The pool in words: the memory, what a model may take of it, and the targets that reach it. */
    public String text() {
        String memory = reach.memory().isEmpty() ? name : reach.memory();
        String most = limit.isPresent() ? " " + limit.getAsLong() + " bytes" : "";
        return memory
                + most
                + (reach.targets().isEmpty() ? "" : " (reached by " + String.join(", ", reach.targets()) + ")");
    }

    /**
     * The targets that reach a memory: a tightly coupled memory may belong to the core alone, and an accelerator may have one of its own.
     *
     * @param memory the board's name for the memory; empty if there is no board
     * @param targets keys of the targets that read and write it: {@code host}, and names of code generators; empty if all do
     */
    public record MemoryReach(String memory, List<String> targets) {
        /** The reach of a memory that every target reaches. */
        public static final MemoryReach ALL = new MemoryReach("", List.of());

        public MemoryReach {
            targets = List.copyOf(targets);
        }

        /** Whether each of these targets reaches the memory. */
        public boolean covers(Collection<String> keys) {
            return targets.isEmpty() || targets.containsAll(keys);
        }
    }
}
