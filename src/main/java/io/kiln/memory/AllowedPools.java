// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Several pools, and the buffers that must not lie in each.
 *
 * @param bounds the pools
 * @param forbidden by buffer the pools in which it must not lie, ascending; empty if every buffer may lie everywhere
 */
record AllowedPools(PoolBounds bounds, List<List<Integer>> forbidden) {
    /** One pool, which may hold all buffers. */
    static final AllowedPools ONE = new AllowedPools(PoolBounds.ONE, List.of());

    AllowedPools {
        forbidden = List.copyOf(forbidden);
    }

    static AllowedPools of(PoolBounds bounds, List<WorkspaceBuffer> buffers, PoolChoice choice) {
        List<List<Integer>> forbidden = buffers.stream()
                .map(buffer -> IntStream.range(0, bounds.pools())
                        .filter(pool -> !choice.mayHold(pool, buffer))
                        .boxed()
                        .toList())
                .toList();
        return new AllowedPools(bounds, forbidden.stream().allMatch(List::isEmpty) ? List.of() : forbidden);
    }

    /** Whether any buffer is excluded from a pool. */
    boolean areRestricting() {
        return !forbidden.isEmpty();
    }

    /** The pools in which a buffer must not lie, ascending. */
    List<Integer> forbidden(int buffer) {
        return areRestricting() ? forbidden.get(buffer) : List.of();
    }
}
