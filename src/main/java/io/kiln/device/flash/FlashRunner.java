// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import java.util.List;

/** Writes images to the flash of devices, which are reserved until it is closed. */
public interface FlashRunner extends AutoCloseable {
    /** Program and version, as in {@code flash.json}. */
    String tool();

    /** The probes, one for each device; at least one. */
    List<Probe> probes();

    /**
     * Writes an image to one device, reads it back and starts it. Several devices may be flashed at once.
     *
     * @param probe one of {@link #probes}
     * @param image the content to flash
     * @param progress listener
     * @return the result; a failure is a result, not an exception
     */
    FlashResult flash(Probe probe, FlashImage image, FlashProgress progress);

    @Override
    void close();
}
