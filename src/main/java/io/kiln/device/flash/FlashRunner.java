// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Writes images to the flash of devices, which are reserved until it is closed. */
public interface FlashRunner extends AutoCloseable {
    /** Program and version, as in {@code flash.json}. */
    String tool();

    /** The probes, one for each device; at least one. */
    List<Probe> probes();

    /** Whether success means that the flash was read back and is equal. */
    default boolean verifies() {
        return true;
    }

    /**
     * Writes an image to one device, reads it back and starts it. Several devices may be flashed at once.
     *
     * @param probe one of {@link #probes}
     * @param image the content to flash
     * @param progress listener
     * @return the result; a failure is a result, not an exception
     */
    FlashResult flash(Probe probe, FlashImage image, FlashProgress progress);

    /**
     * Reads memory of one device, which restarts.
     *
     * @param ranges what to read
     * @return the content of each range
     * @throws FlashFailure.FlashFailed if reading fails
     * @throws io.kiln.base.KilnException if this runner cannot read
     */
    default List<Bytes> read(Probe probe, List<Range> ranges) {
        throw Failure.FLASH.exception(
                tool() + " cannot read the memory of a device", probe.text(), "a board that OpenOCD flashes");
    }

    /**
     * A range of addresses.
     *
     * @param address its first byte
     * @param bytes its length, at least 1
     */
    record Range(long address, int bytes) {}

    @Override
    void close();

    /**
     * The content to flash, as blocks of bytes at addresses.
     *
     * @param segments ascending and not overlapping
     */
    record FlashImage(List<Segment> segments) {
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
            return segments.stream()
                    .mapToLong(segment -> segment.content().size())
                    .sum();
        }
    }

    /**
     * The result of flashing one device.
     *
     * @param unchanged whether the device already held the image, so that nothing was written
     * @param bytes bytes of the image
     * @param elapsed wall time
     * @param failure why it failed; empty if the device holds and runs the image
     */
    record FlashResult(Probe probe, boolean unchanged, long bytes, Duration elapsed, Optional<FlashFailure> failure) {
        /** Whether the device holds the image, confirmed by reading it back. */
        public boolean succeeded() {
            return failure.isEmpty();
        }

        /** {@code flashed}, {@code unchanged} or {@code failed}, as in {@code flash.json}. */
        public String verdict() {
            if (!succeeded()) {
                return "failed";
            }
            return unchanged ? "unchanged" : "flashed";
        }
    }
}
