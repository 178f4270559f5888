// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.memory;

import io.kiln.cycles.core.CycleRange.Bound;
import java.util.List;
import java.util.Optional;

/**
 * A board's memories as code may find them.
 *
 * @param regions the memories
 * @param bound which end of what is not known exactly
 * @param code where all code lies instead; empty for where it was linked
 * @param constants whether all constants lie in RAM instead
 */
public record MemorySetting(List<Region> regions, Bound bound, Optional<RamCode> code, boolean constants) {
    public MemorySetting {
        regions = List.copyOf(regions);
    }

    /** The memories as they are. */
    public MemorySetting(List<Region> regions, Bound bound) {
        this(regions, bound, Optional.empty(), false);
    }

    /** How code that lies in RAM reaches the core. */
    public enum RamCode {
        /** In turns with loads and stores: each word takes a cycle more. */
        SLOW,
        /** Without waits. */
        FAST
    }

    /**
     * A memory.
     *
     * @param base first address
     * @param end address behind the last byte
     * @param waits how long it makes the core wait; empty if it does not, or nothing is known
     * @param code how code reaches the core if it is RAM
     */
    public record Region(long base, long end, Optional<MemoryWait> waits, Optional<RamCode> code) {}

    /** The same memories with code in RAM. */
    public MemorySetting withCode(RamCode ram) {
        return new MemorySetting(regions, bound, Optional.of(ram), constants);
    }

    /** The same memories with constants in RAM. */
    public MemorySetting withConstants() {
        return new MemorySetting(regions, bound, code, true);
    }

    /** The same memories, none of which makes the core wait. */
    public MemorySetting withoutWaits() {
        List<Region> none = regions.stream()
                .map(region -> new Region(region.base, region.end, Optional.empty(), Optional.empty()))
                .toList();
        return new MemorySetting(none, bound);
    }
}
