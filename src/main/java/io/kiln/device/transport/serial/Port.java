// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport.serial;

import com.fazecast.jSerialComm.SerialPort;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A serial port of this computer.
 *
 * @param path its name for opening, such as {@code /dev/ttyACM0} or {@code COM3}
 * @param usb USB ids, {@code vendor:product} in lower-case hexadecimal; empty if it is not on the USB
 * @param serial serial number of the USB device; empty if there is none
 * @param name its description
 */
public record Port(String path, Optional<String> usb, String serial, String name) {

    public static List<Port> list() {
        return Arrays.stream(SerialPort.getCommPorts())
                .map(Port::of)
                .sorted(Comparator.comparing(Port::path))
                .toList();
    }

    private static Port of(SerialPort port) {
        Optional<String> usb = port.getVendorID() < 0
                ? Optional.empty()
                : Optional.of(String.format(Locale.ROOT, "%04x:%04x", port.getVendorID(), port.getProductID()));
        String serial = Optional.ofNullable(port.getSerialNumber())
                .filter(text -> !text.equals("Unknown"))
                .orElse("");
        return new Port(port.getSystemPortPath(), usb, serial, port.getDescriptivePortName());
    }

    /** The port in a line, such as {@code /dev/ttyACM0 (0483:374b STM32 STLink, serial 0669FF)}. */
    public String text() {
        return path + " (" + usb.map(ids -> ids + " ").orElse("") + name
                + (serial.isEmpty() ? "" : ", serial " + serial) + ")";
    }
}
