// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.memory.Distances;
import java.util.Arrays;

/**
 * Lifetimes of the rows of a buffer. The buffer holds all rows, or, as a ring, as many as are ever alive at once: row r
 * lies at slot r modulo the slots.
 *
 * <pre>
 * time:      0 1 2 3 4 5 6 7         row 0 is written by call 2 and read last by call 4, and so on
 * row 0:         w . r
 * row 1:           w . . r           spans: [2,2] rows 0 to 1, [3,4] rows 0 to 2, [5,6] rows 1 to 3
 * row 2:               w r
 * </pre>
 */
final class Occupancy {
    private final long rowBytes;
    private final int slots;
    private int spans;
    private int[] from = new int[4];
    private int[] to = new int[4];
    private int[] firstRow = new int[4];
    private int[] endRow = new int[4];

    private Occupancy(long rowBytes, int slots) {
        this.rowBytes = rowBytes;
        this.slots = slots;
    }

    /**
     * The occupancy of rows that are written in order.
     *
     * @param born time at which each row is written, ascending; without rows that are never written
     * @param dead time of each row's last read, ascending
     * @param rows rows of the value
     * @param block divides the number of slots of a ring; 0 if it must not become a ring
     */
    static Occupancy ofRows(long rowBytes, int[] born, int[] dead, int rows, int block) {
        int slots = block == 0 ? rows : Math.min(rows, (mostAlive(born, dead) + block - 1) / block * block);
        Occupancy occupancy = new Occupancy(rowBytes, slots);
        int low = 0;
        int high = 0;
        int time = born.length == 0 ? 0 : born[0];
        while (low < born.length) {
            while (high < born.length && born[high] <= time) {
                high++;
            }
            while (low < born.length && dead[low] < time) {
                low++;
            }
            if (low == born.length) {
                break;
            }
            int change = low < high ? dead[low] + 1 : Integer.MAX_VALUE;
            int until = Math.min(change, high < born.length ? born[high] : Integer.MAX_VALUE);
            if (high > low) {
                occupancy.add(time, until - 1, low, high);
            }
            time = until;
        }
        return occupancy;
    }

    /** The occupancy of a buffer without rows, alive in the periods added later. */
    static Occupancy ofPeriods(long bytes) {
        return new Occupancy(bytes, 1);
    }

    /** Adds a period, after the earlier ones. */
    void alive(int begin, int last) {
        if (spans > 0 && to[spans - 1] == begin - 1) {
            to[spans - 1] = last;
        } else {
            add(begin, last, 0, 1);
        }
    }

    /** Extends the last period. */
    void extend(int last) {
        to[spans - 1] = last;
    }

    private static int mostAlive(int[] born, int[] dead) {
        int most = 1;
        int low = 0;
        for (int high = 0; high < born.length; high++) {
            while (dead[low] < born[high]) {
                low++;
            }
            most = Math.max(most, high + 1 - low);
        }
        return most;
    }

    private void add(int begin, int last, int first, int end) {
        if (spans == from.length) {
            from = Arrays.copyOf(from, 2 * spans);
            to = Arrays.copyOf(to, 2 * spans);
            firstRow = Arrays.copyOf(firstRow, 2 * spans);
            endRow = Arrays.copyOf(endRow, 2 * spans);
        }
        from[spans] = begin;
        to[spans] = last;
        firstRow[spans] = first;
        endRow[spans] = end;
        spans++;
    }

    /** Number of rows in the buffer. */
    int slots() {
        return slots;
    }

    long bytes() {
        return rowBytes * slots;
    }

    /** Adds the bytes alive at each time to differences between neighbouring times. */
    void addTo(long[] differences) {
        for (int i = 0; i < spans; i++) {
            long bytes = (endRow[i] - firstRow[i]) * rowBytes;
            differences[from[i]] += bytes;
            differences[to[i] + 1] -= bytes;
        }
    }

    /** The first time at which it holds anything. */
    int begin() {
        return spans == 0 ? Integer.MAX_VALUE : from[0];
    }

    /** The last time at which it holds anything. */
    int end() {
        return spans == 0 ? Integer.MIN_VALUE : to[spans - 1];
    }

    /** Differences of offsets, this minus the other's, at which rows alive at one time would share bytes. */
    Distances distances(Occupancy other) {
        Distances.Builder builder = new Distances.Builder();
        int i = 0;
        int k = 0;
        while (i < spans && k < other.spans && !builder.areApart(bytes(), other.bytes())) {
            if (from[i] <= other.to[k] && other.from[k] <= to[i]) {
                together(builder, i, other, k);
            }
            if (to[i] < other.to[k]) {
                i++;
            } else {
                k++;
            }
        }
        return builder.build();
    }

    /** The live bytes are one piece, or two if rows wrap around the end of the ring. */
    private void together(Distances.Builder builder, int span, Occupancy other, int otherSpan) {
        int first = firstSlot(span);
        int end = first + endRow[span] - firstRow[span];
        other.together(builder, first * rowBytes, Math.min(end, slots) * rowBytes, otherSpan);
        if (end > slots) {
            other.together(builder, 0, (end - slots) * rowBytes, otherSpan);
        }
    }

    /** Live bytes of another buffer, and this one's in a span. */
    private void together(Distances.Builder builder, long begin, long last, int span) {
        int first = firstSlot(span);
        int end = first + endRow[span] - firstRow[span];
        builder.together(begin, last, first * rowBytes, Math.min(end, slots) * rowBytes);
        if (end > slots) {
            builder.together(begin, last, 0, (end - slots) * rowBytes);
        }
    }

    private int firstSlot(int span) {
        return endRow[span] - firstRow[span] == slots ? 0 : firstRow[span] % slots;
    }
}
