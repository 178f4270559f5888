// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.Bytes;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The content to flash, as blocks of bytes at addresses.
 *
 * @param segments ascending and not overlapping
 */
public record FlashImage(List<Segment> segments) {
    /** Gaps up to this many bytes, such as between two sections, are written as 0xFF like erased flash. */
    static final int SMALL_GAP = 1024;

    private static final int ERASED = 0xff;

    public FlashImage {
        segments = List.copyOf(segments);
    }

    /** A block of bytes at an address. */
    public record Segment(long address, Bytes content) {
        /** The address behind the last byte. */
        public long end() {
            return address + content.size();
        }
    }

    /** An image of blocks in any order; blocks close together are merged, empty ones dropped. */
    public static FlashImage of(List<Segment> blocks) {
        List<Segment> sorted = blocks.stream()
                .filter(block -> block.content().size() > 0)
                .sorted(Comparator.comparingLong(Segment::address))
                .toList();
        List<Segment> segments = new ArrayList<>();
        int first = 0;
        for (int i = 1; i <= sorted.size(); i++) {
            if (i == sorted.size()
                    || sorted.get(i).address() - sorted.get(i - 1).end() > SMALL_GAP) {
                segments.add(joined(sorted.subList(first, i)));
                first = i;
            }
        }
        return new FlashImage(segments);
    }

    private static Segment joined(List<Segment> near) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long start = near.get(0).address();
        for (Segment each : near) {
            while (start + bytes.size() < each.address()) {
                bytes.write(ERASED);
            }
            bytes.writeBytes(each.content().toArray());
        }
        return new Segment(start, Bytes.wrap(bytes.toByteArray()));
    }

    /** Bytes in all segments. */
    public long size() {
        return segments.stream().mapToLong(segment -> segment.content().size()).sum();
    }
}
