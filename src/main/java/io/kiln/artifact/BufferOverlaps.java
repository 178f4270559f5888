// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Which buffers of a plan follow each other in the same bytes: the earlier one holds some bytes until the later one takes them. All pairs that
 * share bytes would be as many as the square of the number of buffers; a pair that is not here shares bytes only by way of buffers between them.
 */
public final class BufferOverlaps {
    private final List<PlannedBuffer> buffers;
    private final List<SortedSet<Integer>> pairs;

    /** Bytes in use, by first byte: none overlap. */
    private final TreeMap<Long, Held> memory = new TreeMap<>();

    private BufferOverlaps(List<PlannedBuffer> buffers) {
        this.buffers = buffers;
        this.pairs = buffers.stream()
                .<SortedSet<Integer>>map(buffer -> new TreeSet<>())
                .toList();
    }

    /** Bytes up to an end that a buffer was the last to take. */
    private record Held(long end, int buffer) {}

    /**
     * For each buffer the indices of those directly before and after it in some of its bytes, ascending. Their number grows like the number
     * of buffers.
     */
    public static List<SortedSet<Integer>> of(List<PlannedBuffer> buffers) {
        BufferOverlaps overlaps = new BufferOverlaps(buffers);
        IntStream.range(0, buffers.size())
                .boxed()
                .sorted(Comparator.comparingInt(i -> buffers.get(i).firstUse()))
                .forEach(overlaps::take);
        return overlaps.pairs;
    }

    private void take(int buffer) {
        long start = buffers.get(buffer).offset();
        long end = start + buffers.get(buffer).bytes();
        if (start == end) {
            return;
        }
        Map.Entry<Long, Held> before = memory.lowerEntry(start);
        if (before != null && before.getValue().end() > start) {
            memory.put(before.getKey(), new Held(start, before.getValue().buffer()));
            memory.put(start, before.getValue());
        }
        List<Long> taken = new ArrayList<>(memory.subMap(start, end).keySet());
        for (Long begin : taken) {
            Held held = memory.remove(begin);
            pairs.get(buffer).add(held.buffer());
            pairs.get(held.buffer()).add(buffer);
            if (held.end() > end) {
                memory.put(end, held);
            }
        }
        memory.put(start, new Held(end, buffer));
    }
}
