// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import java.time.Duration;
import java.util.Optional;

/**
 * The result of flashing one device.
 *
 * @param unchanged whether the device already held the image, so that nothing was written
 * @param bytes bytes of the image
 * @param elapsed wall time
 * @param failure why it failed; empty if the device holds and runs the image
 */
public record FlashResult(
        Probe probe, boolean unchanged, long bytes, Duration elapsed, Optional<FlashFailure> failure) {
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
