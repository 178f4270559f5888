// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.lease;

import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.Probe;
import io.kiln.device.transport.Transport;
import java.util.Optional;
import java.util.function.Consumer;

/** One device, reserved for the holder until the lease is closed. */
public interface Lease extends AutoCloseable {
    /**
     * The name of the device and its connection in reports, such as {@code stm32f405, probe 0669FF, console
     * /dev/ttyACM0}.
     *
     * @param probe the probe that flashed the image; empty if flashing was skipped
     */
    String name(Optional<Probe> probe);

    /**
     * Opens the tool that writes the device's flash.
     *
     * @return to be closed before the conversation with the program
     * @throws io.kiln.base.KilnException if the tool is missing, or cannot reach the device
     */
    FlashRunner flashRunner();

    /**
     * Connects to the device's program and makes sure that the program runs.
     *
     * @param bring flashes the image, if there is one to flash; called once, at the moment at which none of the
     *     program's first output is lost
     * @return to be closed by the caller, before the lease
     * @throws io.kiln.base.KilnException if the device cannot be reached or is empty; exceptions of {@code bring} pass
     * through
     */
    Transport start(Runnable bring);

    /** Gets the program's output for a log; does nothing if what runs the program keeps its own log. */
    Consumer<String> log();

    /** Releases the device. */
    @Override
    void close();
}
