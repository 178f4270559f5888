// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Several pools as adjoining ranges of one address space, in which buffers are then placed as in one pool: no buffer
 * crosses a bound. Low addresses are filled first, so that the first pool should be the fastest one.
 *
 * @param bounds first addresses of the pools after the first one, ascending, multiples of {@link #ALIGNMENT}
 * @param end the address behind the last pool; empty if it has no limit
 */
public record PoolBounds(List<Long> bounds, OptionalLong end) {
    /** The largest alignment of a buffer: limits are rounded down to it, so that buffers are aligned in their pools. */
    static final long ALIGNMENT = 64;

    /** The address behind all pools, where a plan puts the buffers that fit nowhere. */
    public static final long NOWHERE = 1L << 50;

    /** One pool without a limit. */
    public static final PoolBounds ONE = new PoolBounds(List.of(), OptionalLong.empty());

    public PoolBounds {
        bounds = List.copyOf(bounds);
    }

    /**
     * Pools by their sizes.
     *
     * @param limits the most bytes of each pool; only the last may have none
     * @throws IllegalArgumentException if there is no pool, or one before the last has no limit
     */
    public static PoolBounds of(List<OptionalLong> limits) {
        List<Long> ends = new ArrayList<>();
        long next = 0;
        for (OptionalLong limit : limits.subList(0, limits.size() - 1)) {
            next += limit.orElseThrow(() -> new IllegalArgumentException("a pool before the last has no limit"))
                    & -ALIGNMENT;
            ends.add(next);
        }
        OptionalLong last = limits.get(limits.size() - 1);
        return new PoolBounds(ends, last.isPresent() ? OptionalLong.of(next + last.getAsLong()) : last);
    }

    /** How many pools there are. */
    public int pools() {
        return bounds.size() + 1;
    }

    /** The first address of a pool. */
    public long start(int pool) {
        return pool == 0 ? 0 : bounds.get(pool - 1);
    }

    /** The address behind a pool, and {@link #NOWHERE} behind the last one. */
    long end(int pool) {
        return pool == bounds.size() ? NOWHERE : bounds.get(pool);
    }

    public int poolOf(long address) {
        int pool = 0;
        while (pool < bounds.size() && bounds.get(pool) <= address) {
            pool++;
        }
        return pool;
    }
}
