// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.base.FileFailure;
import io.kiln.device.transport.TcpTransport;
import io.kiln.device.transport.serial.Port;
import io.kiln.flow.spec.ConsoleSpec;
import io.kiln.report.listing.ToolsReport.Lack;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Flashing;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Whether the user may open the probe and the serial port of a board, on Linux. Elsewhere users may.
 *
 * @param root of the file system
 * @param mayOpen whether the user may read and write a file
 */
record DeviceRights(Path root, Predicate<Path> mayOpen) {
    private static final List<String> RULES =
            List.of("etc/udev/rules.d", "run/udev/rules.d", "usr/lib/udev/rules.d", "lib/udev/rules.d");

    /** Vendors of probes, by what the names of OpenOCD's scripts begin with. */
    private static final Map<String, String> VENDORS = Map.of("stlink", "0483", "jlink", "1366");

    private static final String NEW_RULES = "sudo udevadm control --reload && sudo udevadm trigger";

    /** Those of this computer. */
    static DeviceRights here() {
        return new DeviceRights(Path.of("/"), path -> Files.isReadable(path) && Files.isWritable(path));
    }

    /** What is lacking for a board's probe and its console. */
    List<Lack> of(Board board, ConsoleSpec console, List<Port> ports) {
        List<Lack> lacks = new ArrayList<>();
        if (!Files.isDirectory(root.resolve("sys/bus/usb"))) {
            return lacks;
        }
        board.openOcd().filter(how -> !how.isVirtual()).ifPresent(how -> probe(board, how, lacks));
        List<String> usb = board.console().map(Board.Console::usb).orElse(List.of());
        Stream<String> found = console.port().isPresent()
                ? console.port().stream().filter(port -> TcpTransport.port(port).isEmpty())
                : ports.stream()
                        .filter(port -> port.usb().filter(usb::contains).isPresent())
                        .map(Port::path);
        found.map(Path::of)
                .filter(path -> Files.exists(path) && !mayOpen.test(path))
                .forEach(path -> lacks.add(new Lack(
                        "you may not open the port " + path,
                        "sudo usermod -aG " + group(path) + " $USER, and log in again")));
        return lacks;
    }

    private void probe(Board board, Flashing.OpenOcd how, List<Lack> lacks) {
        TreeSet<String> vendors = new TreeSet<>();
        board.console().map(Board.Console::usb).orElse(List.of()).forEach(id -> vendors.add(id.substring(0, 4)));
        String script = how.interfaceConfig().replaceFirst(".*/", "");
        VENDORS.forEach((begin, vendor) -> {
            if (script.startsWith(begin)) {
                vendors.add(vendor);
            }
        });
        List<Path> closed = attached(vendors).stream().filter(mayOpen.negate()).toList();
        if (!closed.isEmpty()) {
            lacks.add(new Lack(
                    "you may not open the probe at " + closed.get(0),
                    "Put OpenOCD's 60-openocd.rules into /etc/udev/rules.d, then: " + NEW_RULES));
        } else if (!mayOpen.test(root.resolve("dev/bus/usb")) && !hasRule(vendors)) {
            lacks.add(new Lack(
                    "no udev rule lets you open the probe of " + script,
                    "Install OpenOCD by the system's package manager, or put its 60-openocd.rules into /etc/udev/rules.d, then: "
                            + NEW_RULES));
        }
    }

    /** The device files of all USB devices of some vendors. */
    private List<Path> attached(TreeSet<String> vendors) {
        List<Path> files = new ArrayList<>();
        for (Path device : list(root.resolve("sys/bus/usb/devices"))) {
            if (vendors.contains(text(device.resolve("idVendor")).strip())) {
                String bus = text(device.resolve("busnum")).strip();
                String number = text(device.resolve("devnum")).strip();
                if (bus.matches("[0-9]{1,3}") && number.matches("[0-9]{1,3}")) {
                    files.add(root.resolve(String.format(
                            Locale.ROOT, "dev/bus/usb/%03d/%03d", Integer.parseInt(bus), Integer.parseInt(number))));
                }
            }
        }
        return files;
    }

    /** Whether a rule names one of the vendors, or, if none is known, comes with OpenOCD. */
    private boolean hasRule(TreeSet<String> vendors) {
        return RULES.stream()
                .flatMap(folder -> list(root.resolve(folder)).stream())
                .filter(file -> file.toString().endsWith(".rules"))
                .anyMatch(file -> vendors.isEmpty()
                        ? file.getFileName().toString().contains("openocd")
                        : vendors.stream().anyMatch(vendor -> text(file).contains("\"" + vendor + "\"")));
    }

    private static List<Path> list(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        } catch (IOException e) {
            throw FileFailure.of("cannot list", folder, e);
        }
    }

    /** The text of a small file of the system; empty if there is none, or the user may not read it. */
    private static String text(Path file) {
        try {
            return Files.isRegularFile(file) ? Files.readString(file, StandardCharsets.ISO_8859_1) : "";
        } catch (IOException e) {
            return "";
        }
    }

    private static String group(Path port) {
        try {
            return Files.readAttributes(port, PosixFileAttributes.class).group().getName();
        } catch (IOException | UnsupportedOperationException e) {
            return "dialout";
        }
    }
}
