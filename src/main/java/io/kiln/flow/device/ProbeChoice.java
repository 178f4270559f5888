// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.Probe;
import io.kiln.device.flash.Probes;
import io.kiln.device.flash.UsbDevice;
import io.kiln.toolchain.board.Flashing;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Selects the probes to use. It never guesses between several. */
final class ProbeChoice {
    private static final String ALL = "all";

    private final Optional<String> asked;
    private final Path usb;

    ProbeChoice(Optional<String> asked) {
        this(asked, UsbDevice.SYSFS);
    }

    /** A choice among the devices of a list; see {@link UsbDevice#list}. */
    ProbeChoice(Optional<String> asked, Path usb) {
        this.asked = asked.filter(text -> !text.isBlank());
        this.usb = usb;
    }

    /**
     * The selected probes, at least one.
     *
     * @throws KilnException if none was named and several are connected; if all are wanted and none is connected, or
     * the system cannot list them
     */
    List<Probe> choose(Flashing.OpenOcd board) {
        if (asked.isPresent() && !asked.get().equals(ALL)) {
            return named(asked.get());
        }
        Optional<List<UsbDevice>> found =
                UsbDevice.list(usb).flatMap(devices -> Probes.of(board.interfaceConfig(), devices));
        if (asked.isPresent()) {
            return all(board, found);
        }
        if (found.isPresent() && found.get().size() > 1) {
            throw new KilnException(Failure.DEVICE.problem(
                    Kind.SEVERAL_PROBES.meaning() + ": " + texts(found.get()),
                    "kiln.probe",
                    "one of them",
                    Kind.SEVERAL_PROBES.remedy()));
        }
        // OpenOCD may know probes that the list lacks, and otherwise gives the best message about what is missing.
        return found.filter(list -> list.size() == 1)
                .map(list -> List.of(Probes.probe(list.get(0))))
                .orElse(List.of(new Probe.Any()));
    }

    private static List<Probe> named(String list) {
        Set<Probe> probes = new LinkedHashSet<>();
        for (String each : list.split(",", -1)) {
            probes.add(Probe.parse(each.strip()));
        }
        return new ArrayList<>(probes);
    }

    private static List<Probe> all(Flashing.OpenOcd board, Optional<List<UsbDevice>> found) {
        if (found.isEmpty()) {
            throw new KilnException(Failure.DEVICE.problem(
                    "this system does not list which probes for " + board.interfaceConfig() + " are connected",
                    "kiln.probe",
                    "serial numbers separated by commas",
                    "Name them with -Dkiln.probe=<serial>,<serial>"));
        }
        if (found.get().isEmpty()) {
            throw new KilnException(Failure.DEVICE.problem(
                    Kind.NO_PROBE.meaning(),
                    "kiln.probe",
                    "a probe for " + board.interfaceConfig(),
                    Kind.NO_PROBE.remedy()));
        }
        return found.get().stream().map(Probes::probe).toList();
    }

    private static String texts(List<UsbDevice> devices) {
        return devices.stream().map(UsbDevice::text).collect(Collectors.joining("; "));
    }
}
