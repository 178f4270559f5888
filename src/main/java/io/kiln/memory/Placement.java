// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.Arrays;

/** First fit: places buffers in a given order, each in the lowest gap that holds it. Reused between orders. */
final class Placement {
    private final MemoryProblem problem;
    private final long[] sizes;
    private final int[] alignments;
    private final long[] offsets;
    private final boolean[] placed;
    private final long[] starts;
    private final long[] ends;
    private long bytes;

    Placement(MemoryProblem problem) {
        this.problem = problem;
        int n = problem.size();
        sizes = problem.buffers().stream().mapToLong(Buffer::bytes).toArray();
        alignments = problem.buffers().stream().mapToInt(Buffer::alignment).toArray();
        offsets = new long[n];
        placed = new boolean[n];
        starts = new long[n];
        ends = new long[n];
    }

    /** Places all; afterwards {@link #offset} tells where. Returns the bytes needed. */
    long place(int[] order) {
        Arrays.fill(placed, false);
        bytes = 0;
        for (int buffer : order) {
            offsets[buffer] = sizes[buffer] == 0 ? 0 : lowestFit(buffer);
            placed[buffer] = true;
            bytes = Math.max(bytes, end(buffer));
        }
        return bytes;
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
        for (int other : problem.conflicts(buffer)) {
            if (placed[other]) {
                starts[count] = offsets[other];
                ends[count] = end(other);
                count++;
            }
        }
        // With both sorted by themselves, there is a gap before start k exactly where the k-th end lies below it:
        // then all k intervals that begin before have ended.
        Arrays.sort(starts, 0, count);
        Arrays.sort(ends, 0, count);
        long candidate = 0;
        for (int k = 0; k < count; k++) {
            if (candidate + sizes[buffer] <= starts[k]) {
                return candidate;
            }
            candidate = align(ends[k], alignments[buffer]);
        }
        return candidate;
    }

    static long align(long offset, int alignment) {
        return (offset + alignment - 1) & -alignment;
    }
}
