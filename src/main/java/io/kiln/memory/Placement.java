// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import io.kiln.memory.MemoryProblem.PoolBounds;
import io.kiln.memory.MemoryProblem.WorkspaceBuffer;
import java.util.Arrays;
import java.util.stream.IntStream;

/** First fit: places buffers in a given order, each at the lowest offset that the earlier ones allow. Reused between orders. */
final class Placement {
    private final MemoryProblem problem;
    private final long[] sizes;
    private final int[] alignments;
    private final long[] offsets;
    private final long[] saved;
    private final boolean[] placed;
    private final long[] bounds;
    private final int[][] forbidden;
    private final int[][] neighbours;
    private final Distances[][] distances;

    Placement(MemoryProblem problem) {
        this.problem = problem;
        int n = problem.size();
        sizes = problem.buffers().stream().mapToLong(WorkspaceBuffer::bytes).toArray();
        alignments =
                problem.buffers().stream().mapToInt(WorkspaceBuffer::alignment).toArray();
        offsets = new long[n];
        saved = new long[n];
        placed = new boolean[n];
        bounds = problem.pools().bounds().bounds().stream()
                .mapToLong(Long::longValue)
                .toArray();
        forbidden = IntStream.range(0, n)
                .mapToObj(i -> problem.pools().forbidden(i).stream()
                        .mapToInt(Integer::intValue)
                        .toArray())
                .toArray(int[][]::new);
        neighbours = new int[n][];
        distances = new Distances[n][];
        for (int i = 0; i < n; i++) {
            neighbours[i] = problem.conflicts(i);
            distances[i] = problem.distances(i);
        }
    }

    /** Places all buffers; afterwards {@link #offset} returns their offsets. Returns the bytes needed. */
    long place(int[] order) {
        return placeFrom(0, order, Long.MAX_VALUE);
    }

    /**
     * Places again the buffers from a position of the order on; those before it must be where they were placed last.
     *
     * @param most once more bytes are needed, it ends early, with some buffers where they were before
     */
    long placeFrom(int first, int[] order, long most) {
        Arrays.fill(placed, false);
        long bytes = 0;
        for (int i = 0; i < first; i++) {
            placed[order[i]] = true;
            bytes = Math.max(bytes, end(order[i]));
        }
        for (int i = first; i < order.length && bytes <= most; i++) {
            int buffer = order[i];
            offsets[buffer] = sizes[buffer] == 0 ? 0 : lowestFit(buffer);
            placed[buffer] = true;
            bytes = Math.max(bytes, end(buffer));
        }
        return bytes;
    }

    /** Remembers where all buffers are. */
    void save() {
        System.arraycopy(offsets, 0, saved, 0, offsets.length);
    }

    /** Moves all buffers to where they were at the last {@link #save}. */
    void restore() {
        System.arraycopy(saved, 0, offsets, 0, offsets.length);
    }

    long end(int buffer) {
        return offsets[buffer] + sizes[buffer];
    }

    long[] offsets() {
        return offsets.clone();
    }

    private long lowestFit(int buffer) {
        long lowest = 0;
        long next = raised(buffer, lowest);
        while (next > lowest) {
            lowest = next;
            next = raised(buffer, lowest);
        }
        return lowest;
    }

    /** An offset; or, if something is in its way, a higher one below which there is no room. */
    private long raised(int buffer, long offset) {
        long lowest = offset;
        int[] others = neighbours[buffer];
        Distances[] apart = distances[buffer];
        for (int k = 0; k < others.length; k++) {
            if (placed[others[k]]) {
                long other = offsets[others[k]];
                boolean isClear = lowest + sizes[buffer] <= other || lowest >= other + sizes[others[k]];
                long free = apart.length > 0
                        ? other + apart[k].leastFrom(lowest - other)
                        : isClear ? lowest : other + sizes[others[k]];
                lowest = atLeast(lowest, free, buffer);
            }
        }
        // A single byte crosses no bound.
        for (int k = 0; k < bounds.length && sizes[buffer] > 1; k++) {
            if (lowest < bounds[k] && lowest + sizes[buffer] > bounds[k]) {
                lowest = atLeast(lowest, bounds[k], buffer);
            }
        }
        for (int pool : forbidden[buffer]) {
            PoolBounds pools = problem.pools().bounds();
            if (lowest < pools.end(pool) && lowest + sizes[buffer] > pools.start(pool)) {
                lowest = atLeast(lowest, pools.end(pool), buffer);
            }
        }
        return lowest;
    }

    private long atLeast(long lowest, long free, int buffer) {
        return free > lowest ? align(free, alignments[buffer]) : lowest;
    }

    static long align(long offset, int alignment) {
        return (offset + alignment - 1) & -alignment;
    }
}
