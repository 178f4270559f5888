// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import java.util.List;

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
}
