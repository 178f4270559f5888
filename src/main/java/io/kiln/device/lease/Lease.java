// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.lease;

import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.Probe;
import io.kiln.device.transport.Transport;
import java.util.Optional;
import java.util.function.Consumer;

/** One device that is the holder's until the lease is closed. */
public interface Lease extends AutoCloseable {
    /**
     * How reports name the device and what it is reached by, such as {@code stm32f405, probe 0669FF, console /dev/ttyACM0}.
     *
     * @param probe the probe that brought the image; empty if the device was taken as it was
     */
    String name(Optional<Probe> probe);

    /**
     * Takes hold of what writes the device's flash.
     *
     * @return to be closed before the program is talked to
     * @throws io.kiln.base.KilnException if there is no such tool, or it cannot reach the device
     */
    FlashRunner flashRunner();

    /**
     * Opens the line to the device's program and sees to it that the program runs.
     *
     * @param bring brings the image there, if there is one to bring; it is called once, at the moment at which nothing is lost of what
     *     the program says when it starts
     * @return to be closed by the caller, before the lease
     * @throws io.kiln.base.KilnException if the device cannot be reached or holds nothing; whatever {@code bring} throws passes through
     */
    Transport start(Runnable bring);

    /** Gets the text that the program prints. It is kept in a log, unless what runs the program keeps one itself. */
    Consumer<String> log();

    /** Gives the device back. */
    @Override
    void close();
}
