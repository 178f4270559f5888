// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * First fit: places buffers in a given order, each at the lowest offset that the earlier ones allow. Reused between
 * orders.
 */
final class Placement {
    private final MemoryProblem problem;
    private final long[] sizes;
    private final int[] alignments;
    private final long[] offsets;
    private final long[] saved;
    private final boolean[] placed;
    private final long[] bounds;
    private final int[][] forbidden;
    private final long[] starts;
    private final long[] ends;

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
        int most = IntStream.range(0, n).map(problem::mostIntervals).max().orElse(0) + 2 * bounds.length + 1;
        starts = new long[most];
        ends = new long[most];
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

    long offset(int buffer) {
        return offsets[buffer];
    }

    long end(int buffer) {
        return offsets[buffer] + sizes[buffer];
    }

    long[] offsets() {
        return offsets.clone();
    }

    private long lowestFit(int buffer) {
        int count = 0;
        int[] neighbours = problem.conflicts(buffer);
        for (int k = 0; k < neighbours.length; k++) {
            if (placed[neighbours[k]]) {
                count = forbid(problem.distances(buffer, k), offsets[neighbours[k]], count);
            }
        }
        // A single byte crosses no bound.
        for (int k = 0; k < bounds.length && sizes[buffer] > 1; k++) {
            long bound = bounds[k];
            starts[count] = bound - sizes[buffer] + 1;
            ends[count] = bound - 1;
            count++;
        }
        for (int pool : forbidden[buffer]) {
            starts[count] = problem.pools().bounds().start(pool) - sizes[buffer] + 1;
            ends[count] = problem.pools().bounds().end(pool) - 1;
            count++;
        }
        // With both sorted independently, there is a gap before start k exactly if the k-th end lies below it: then all
        // k intervals that begin before have ended.
        Arrays.sort(starts, 0, count);
        Arrays.sort(ends, 0, count);
        long candidate = 0;
        for (int k = 0; k < count; k++) {
            if (candidate < starts[k]) {
                return candidate;
            }
            candidate = align(Math.max(0, ends[k] + 1), alignments[buffer]);
        }
        return candidate;
    }

    /** Adds the first and last offsets that a placed neighbour forbids. */
    private int forbid(Distances distances, long other, int count) {
        int next = count;
        for (int i = 0; i < distances.count(); i++) {
            starts[next] = other + distances.from(i);
            ends[next] = other + distances.to(i);
            next++;
        }
        return next;
    }

    static long align(long offset, int alignment) {
        return (offset + alignment - 1) & -alignment;
    }
}
