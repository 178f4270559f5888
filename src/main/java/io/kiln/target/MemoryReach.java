// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import java.util.Collection;
import java.util.List;

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
