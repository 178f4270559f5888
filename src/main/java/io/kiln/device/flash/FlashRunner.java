// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import java.util.List;

/** Writes images to the flash of devices that it holds until it is closed. */
public interface FlashRunner extends AutoCloseable {
    /** Program and version, as {@code flash.json} names them. */
    String tool();

    /** What reaches the devices, one probe for each; at least one. */
    List<Probe> probes();

    /**
     * Writes an image to one device, reads it back and starts it. Several devices may be flashed at once.
     *
     * @param probe one of {@link #probes}
     * @param image what the device shall hold
     * @param progress hears how far it is
     * @return how it went; a failure is a result, not an exception
     */
    FlashResult flash(Probe probe, FlashImage image, FlashProgress progress);

    @Override
    void close();
}
