// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.List;
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
}
