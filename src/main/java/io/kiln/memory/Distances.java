// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.Arrays;

/**
 * Forbidden positions of one buffer relative to another: differences of their offsets, as closed intervals in ascending
 * order that neither touch nor overlap. Two buffers that are fully alive at the same time forbid one interval around 0;
 * where rows of one die before rows of the other are born, they may share bytes at some distances.
 */
public final class Distances {
    private static final Distances NONE = new Distances(new long[0], new long[0]);

    private final long[] from;
    private final long[] to;

    private Distances(long[] from, long[] to) {
        this.from = from;
        this.to = to;
    }

    /** No forbidden differences. */
    public static Distances none() {
        return NONE;
    }

    /** Buffers of these sizes must not share a byte. */
    public static Distances apart(long bytes, long otherBytes) {
        return bytes == 0 || otherBytes == 0
                ? NONE
                : new Distances(new long[] {1 - bytes}, new long[] {otherBytes - 1});
    }

    /** The same relation from the other buffer's side. */
    public Distances negated() {
        int n = from.length;
        long[] negatedFrom = new long[n];
        long[] negatedTo = new long[n];
        for (int i = 0; i < n; i++) {
            negatedFrom[i] = -to[n - 1 - i];
            negatedTo[i] = -from[n - 1 - i];
        }
        return new Distances(negatedFrom, negatedTo);
    }

    /** Whether any position is allowed. */
    public boolean isEmpty() {
        return from.length == 0;
    }

    /** Whether {@code offset - other} is forbidden. */
    public boolean forbid(long offset, long other) {
        long difference = offset - other;
        for (int i = 0; i < from.length; i++) {
            if (from[i] <= difference && difference <= to[i]) {
                return true;
            }
        }
        return false;
    }

    /** Whether they equal {@link #apart}. */
    boolean areApart(long bytes, long otherBytes) {
        return from.length == 1 && from[0] == 1 - bytes && to[0] == otherBytes - 1;
    }

    int count() {
        return from.length;
    }

    long from(int interval) {
        return from[interval];
    }

    long to(int interval) {
        return to[interval];
    }

    /** Collects intervals in any order. */
    public static final class Builder {
        private long[][] intervals = new long[8][];
        private int count;

        /**
         * Adds that bytes {@code [begin, end)} of the buffer and {@code [otherBegin, otherEnd)} of the other are alive
         * at the same time.
         */
        public void together(long begin, long end, long otherBegin, long otherEnd) {
            long first = otherBegin - end + 1;
            long last = otherEnd - begin - 1;
            if (count > 0 && intervals[count - 1][0] <= first && last <= intervals[count - 1][1]) {
                return;
            }
            if (count == intervals.length) {
                merge();
            }
            if (count * 2 > intervals.length) {
                intervals = Arrays.copyOf(intervals, intervals.length * 2);
            }
            intervals[count++] = new long[] {first, last};
        }

        public Distances build() {
            merge();
            long[] from = new long[count];
            long[] to = new long[count];
            for (int i = 0; i < count; i++) {
                from[i] = intervals[i][0];
                to[i] = intervals[i][1];
            }
            return count == 0 ? NONE : new Distances(from, to);
        }

        private void merge() {
            Arrays.sort(intervals, 0, count, (a, b) -> Long.compare(a[0], b[0]));
            int kept = 0;
            for (int i = 0; i < count; i++) {
                if (kept > 0 && intervals[i][0] <= intervals[kept - 1][1] + 1) {
                    intervals[kept - 1][1] = Math.max(intervals[kept - 1][1], intervals[i][1]);
                } else {
                    intervals[kept++] = intervals[i];
                }
            }
            count = kept;
        }
    }
}
