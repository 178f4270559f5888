// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.memory;

import io.kiln.cycles.core.CycleRange;
import java.util.Optional;

/**
 * How long a memory makes the core wait, as the board's start-up code sets it up.
 *
 * @param states further cycles of each access that no cache answers
 * @param lineBytes bytes that one access reads; a power of two
 * @param prefetch whether the next line is read while the core works on one
 * @param fetch the cache of code; empty if there is none
 * @param data the cache of constants, which can be that of code; empty if each word of a constant that is read waits
 * @param missCycles what the core waits for a line that is not in a cache, where that is not {@code states} of a memory whose last line
 *     stays readable; empty for such a memory
 */
public record MemoryWait(
        int states,
        int lineBytes,
        boolean prefetch,
        Optional<Cache> fetch,
        Optional<DataCache> data,
        Optional<CycleRange> missCycles) {
    private static final int LARGEST_INSTRUCTION = 4;
    private static final double MEAN_ERROR = 1.04;

    /**
     * A cache.
     *
     * @param lines how many it has, at least 1
     * @param lineBytes bytes of each; a power of two
     * @param ways places that a line can take; 0 if it can take any; lines by ways are a power of two
     * @param sectorBytes bytes that are read at once, at most {@code lineBytes}; a power of two
     */
    public record Cache(int lines, int lineBytes, int ways, int sectorBytes) {
        /** How much it holds. */
        public int bytes() {
            return lines * lineBytes;
        }

        /** How many groups of {@code ways} lines it has. */
        public int sets() {
            return ways == 0 ? 1 : lines / ways;
        }
    }

    /** Where constants are cached. */
    public sealed interface DataCache {
        /** In the cache of code, which is for both. */
        record Shared() implements DataCache {}

        /** In a cache of their own. */
        record Own(Cache cache) implements DataCache {}
    }

    /** A memory without caches. */
    public MemoryWait(int states, int lineBytes, boolean prefetch) {
        this(states, lineBytes, prefetch, Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** Whether the profile says enough to count what it costs. */
    public boolean isModelled() {
        return states == 0 || fetch.isPresent() || missCycles.isPresent();
    }

    /**
     * By how much chips took longer than the model says, of five published programs on an STM32L4R5 (MLPerf Tiny v1.0, closed division, the
     * microTVM submissions): 4 % in the mean.
     */
    public double measured() {
        return states > 0 && missCycles.isEmpty() && fetch.isPresent() ? MEAN_ERROR : 1;
    }

    /** The cache that decides how large a loop may be; empty if no loop waits more than another. */
    public Optional<Cache> codeCache() {
        return states == 0 && missCycles.isEmpty() ? Optional.empty() : fetch;
    }

    /**
     * The most cycles that an execution can wait, if no cache ever helps.
     *
     * @param codeBytes bytes of all executed instructions
     * @param taken branches taken
     * @param loads instructions that load; all of them from this memory
     */
    public long stallsAtMost(long codeBytes, long taken, long loads) {
        // While a line is executed, at an instruction a cycle, the next one is on its way.
        int hidden = prefetch ? lineBytes / LARGEST_INSTRUCTION : 0;
        long lines = codeBytes / lineBytes;
        return lines * Math.max(0, states - hidden) + (taken + loads) * states;
    }
}
