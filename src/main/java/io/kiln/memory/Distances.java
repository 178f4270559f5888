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

    /** The same relation seen from the other buffer: all differences negated. */
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

    /** The least allowed difference that is at least this one. */
    long leastFrom(long difference) {
        for (int i = 0; i < from.length && from[i] <= difference; i++) {
            if (difference <= to[i]) {
                return to[i] + 1;
            }
        }
        return difference;
    }

    /** Collects intervals in any order. */
    public static final class Builder {
        /** First and last differences of the intervals in ascending order; the intervals neither touch nor overlap. */
        private long[] from = new long[4];

        private long[] to = new long[4];
        private int count;

        /** Adds that bytes {@code [begin, end)} of the buffer and {@code [otherBegin, otherEnd)} of the other are alive at the same time. */
        public void together(long begin, long end, long otherBegin, long otherEnd) {
            add(otherBegin - end + 1, otherEnd - begin - 1);
        }

        /** Merges an interval with those that it touches or overlaps. */
        private void add(long first, long last) {
            int after = count;
            while (after > 0 && from[after - 1] > last + 1) {
                after--;
            }
            int before = after;
            while (before > 0 && to[before - 1] >= first - 1) {
                before--;
            }
            if (before == after) {
                insert(before, first, last);
                return;
            }
            from[before] = Math.min(from[before], first);
            to[before] = Math.max(to[after - 1], last);
            int merged = after - before - 1;
            if (merged > 0) {
                System.arraycopy(from, after, from, before + 1, count - after);
                System.arraycopy(to, after, to, before + 1, count - after);
                count -= merged;
            }
        }

        private void insert(int at, long first, long last) {
            if (count == from.length) {
                from = Arrays.copyOf(from, 2 * count);
                to = Arrays.copyOf(to, 2 * count);
            }
            System.arraycopy(from, at, from, at + 1, count - at);
            System.arraycopy(to, at, to, at + 1, count - at);
            from[at] = first;
            to[at] = last;
            count++;
        }

        /** Whether no difference at which buffers of these sizes share a byte is allowed any more. */
        public boolean areApart(long bytes, long otherBytes) {
            return count == 1 && from[0] <= 1 - bytes && to[0] >= otherBytes - 1;
        }

        public Distances build() {
            return count == 0 ? NONE : new Distances(Arrays.copyOf(from, count), Arrays.copyOf(to, count));
        }
    }
}
