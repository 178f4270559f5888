// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The debug probe to use: the only one, or one by its serial number, its place on the USB or its address. */
public sealed interface Probe {
    /** The probe's name in messages and reports. */
    String text();

    /** The commands that make OpenOCD use it, placed after the configuration of the interface. */
    List<String> commands();

    /** The only one connected, where the system cannot list probes. */
    record Any() implements Probe {
        @Override
        public String text() {
            return "the probe";
        }

        @Override
        public List<String> commands() {
            return List.of();
        }
    }

    /** The probe with this serial number. */
    record Serial(String serial) implements Probe {
        @Override
        public String text() {
            return serial;
        }

        @Override
        public List<String> commands() {
            return List.of(Tcl.command("adapter", "serial", serial));
        }
    }

    /** The probe at this place of the USB tree, such as {@code 1-2.4}: bus, then ports. */
    record Location(String location) implements Probe {
        @Override
        public String text() {
            return "usb:" + location;
        }

        @Override
        public List<String> commands() {
            return List.of(Tcl.command("adapter", "usb", "location", location));
        }
    }

    /**
     * A server that speaks OpenOCD's {@code remote_bitbang}, such as a virtual probe; it replaces the board's
     * interface.
     *
     * @param host name or address
     * @param port 1 to 65535
     */
    record Remote(String host, int port) implements Probe {
        @Override
        public String text() {
            return "tcp:" + host + ":" + port;
        }

        @Override
        public List<String> commands() {
            return List.of(
                    Tcl.command("adapter", "driver", "remote_bitbang"),
                    Tcl.command("remote_bitbang", "host", host),
                    Tcl.command("remote_bitbang", "port", String.valueOf(port)));
        }
    }

    /**
     * A virtual probe of this process.
     *
     * @param name name of its board
     * @param server its address
     */
    record Virtual(String name, Remote server) implements Probe {
        @Override
        public String text() {
            return name;
        }

        @Override
        public List<String> commands() {
            return server.commands();
        }
    }

    /**
     * Reads {@code <serial>}, {@code usb:<bus>-<port>[.<port>…]} or {@code tcp:<host>:<port>}.
     *
     * @throws KilnException if the text is none of these
     */
    static Probe parse(String text) {
        if (text.startsWith("usb:")) {
            if (!Pattern.matches("[0-9]{1,3}-[0-9]{1,3}(\\.[0-9]{1,3}){0,6}", text.substring(4))) {
                throw malformed(text, "usb:<bus>-<port>, such as usb:1-2.4");
            }
            return new Location(text.substring(4));
        }
        if (text.startsWith("tcp:")) {
            Matcher matcher =
                    Pattern.compile("tcp:([A-Za-z0-9_.-]{1,253}):([0-9]{1,5})").matcher(text);
            if (!matcher.matches() || Integer.parseInt(matcher.group(2)) > 0xffff) {
                throw malformed(text, "tcp:<host>:<port>, such as tcp:localhost:9824");
            }
            return new Remote(matcher.group(1), Integer.parseInt(matcher.group(2)));
        }
        if (text.isBlank() || text.chars().anyMatch(c -> c < ' ') || text.length() > 200) {
            throw malformed(text, "a serial number, usb:<bus>-<port> or tcp:<host>:<port>");
        }
        return new Serial(text);
    }

    private static KilnException malformed(String text, String expected) {
        return Failure.CONFIG.exception("not a valid name of a probe: '" + text + "'", "kiln.probe", expected);
    }

    /**
     * A USB device that the system lists.
     *
     * @param location bus and ports, such as {@code 1-2.4}
     * @param vendor its vendor id, 0 to 0xffff
     * @param product its product id, 0 to 0xffff
     * @param serial its serial number; empty if it has none
     * @param name product name and interface names; may be empty
     */
    record UsbDevice(String location, int vendor, int product, String serial, String name) {
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
            return String.format(Locale.ROOT, "%04x:%04x %s", vendor, product, name)
                            .strip() + (serial.isEmpty() ? ", no serial number" : ", serial " + serial) + ", at usb:"
                    + location;
        }
    }
}
