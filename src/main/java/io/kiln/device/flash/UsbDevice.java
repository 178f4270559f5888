// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A USB device that the system lists.
 *
 * @param location bus and ports, such as {@code 1-2.4}
 * @param vendor its vendor id, 0 to 0xffff
 * @param product its product id, 0 to 0xffff
 * @param serial its serial number; empty if it has none
 * @param name product name and interface names; may be empty
 */
public record UsbDevice(String location, int vendor, int product, String serial, String name) {
    /** Linux's list of USB devices. */
    public static final Path SYSFS = Path.of("/sys/bus/usb/devices");

    /**
     * All devices, by location; empty if this system has no such list.
     *
     * @param sysfs the list, {@link #SYSFS} except in tests
     */
    public static Optional<List<UsbDevice>> list(Path sysfs) {
        List<UsbDevice> devices = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(sysfs)) {
            for (Path entry : entries) {
                read(entry).ifPresent(devices::add);
            }
        } catch (IOException | DirectoryIteratorException e) {
            return Optional.empty();
        }
        devices.sort(Comparator.comparing(UsbDevice::location));
        return Optional.of(List.copyOf(devices));
    }

    private static Optional<UsbDevice> read(Path entry) throws IOException {
        Optional<Integer> vendor = hex(entry.resolve("idVendor"));
        Optional<Integer> product = hex(entry.resolve("idProduct"));
        if (vendor.isEmpty() || product.isEmpty()) {
            return Optional.empty();
        }
        StringBuilder name = new StringBuilder(text(entry.resolve("product")));
        try (DirectoryStream<Path> interfaces = Files.newDirectoryStream(entry, entry.getFileName() + ":*")) {
            for (Path each : interfaces) {
                String label = text(each.resolve("interface"));
                name.append(label.isEmpty() || name.indexOf(label) >= 0 ? "" : " " + label);
            }
        }
        return Optional.of(new UsbDevice(
                entry.getFileName().toString(),
                vendor.get(),
                product.get(),
                text(entry.resolve("serial")),
                name.toString().strip()));
    }

    private static Optional<Integer> hex(Path file) {
        String text = text(file);
        return text.matches("[0-9a-fA-F]{4}") ? Optional.of(Integer.parseInt(text, 16)) : Optional.empty();
    }

    /** An attribute; empty if the device lacks it, or was unplugged. */
    private static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** The device in a line, such as {@code 0483:374b STM32 STLink, serial 0669FF, at 1-2}. */
    public String text() {
        return String.format(Locale.ROOT, "%04x:%04x %s", vendor, product, name).strip()
                + (serial.isEmpty() ? ", no serial number" : ", serial " + serial) + ", at usb:" + location;
    }
}
