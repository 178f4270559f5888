// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport.serial;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Selects the port of the board's console. It never guesses between several, and does not take a port without a link to
 * the board.
 *
 * @param path the port named by the user; empty if none
 * @param serial serial number of the USB device named by the user; empty if none
 * @param usb USB ids of the board's console, {@code vendor:product} in lower-case hexadecimal; may be empty
 */
public record PortChoice(Optional<String> path, Optional<String> serial, List<String> usb) {
    private static final String WHERE = "kiln.monitor.port";

    public PortChoice {
        usb = List.copyOf(usb);
    }

    /**
     * Path of the port.
     *
     * @param ports the existing ports
     * @throws KilnException if none matches, or more than one; with the list of all
     */
    public String choose(List<Port> ports) {
        if (path.isPresent()) {
            return path.get();
        }
        if (serial.isEmpty() && usb.isEmpty()) {
            throw Failure.BOARD.exception(
                    "the board's description has no USB ids of its console",
                    WHERE,
                    "the name of a port; there are: " + texts(ports),
                    "Name one with -Dkiln.monitor.port=<port>, or add console.usb to board.yaml");
        }
        List<Port> fitting = ports.stream().filter(this::fits).toList();
        if (fitting.size() == 1) {
            return fitting.get(0).path();
        }
        String wanted = serial.map(number -> "serial number " + number).orElse("USB ids " + String.join(", ", usb));
        if (fitting.isEmpty()) {
            throw Failure.DEVICE.exception(
                    "no serial port has the " + wanted,
                    WHERE,
                    "one of: " + texts(ports),
                    "Connect the board, or name a port with -Dkiln.monitor.port=<port>");
        }
        throw Failure.DEVICE.exception(
                "several serial ports have the " + wanted,
                WHERE,
                "one of: " + texts(fitting),
                "Name one with -Dkiln.monitor.serial=<serial> or -Dkiln.monitor.port=<port>");
    }

    private boolean fits(Port port) {
        return (serial.isEmpty() || port.serial().equals(serial.get()))
                && (usb.isEmpty() || port.usb().filter(usb::contains).isPresent());
    }

    private static String texts(List<Port> ports) {
        return ports.isEmpty() ? "none" : ports.stream().map(Port::text).collect(Collectors.joining("; "));
    }
}
