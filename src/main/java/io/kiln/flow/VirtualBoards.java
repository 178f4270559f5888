// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.device.flash.Probe;
import io.kiln.device.probe.Faults;
import io.kiln.device.probe.FlashContent;
import io.kiln.device.probe.VirtualChip;
import io.kiln.device.probe.VirtualProbe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/** Boards that are there only while they are flashed; what their flash holds is kept in a file of each until the next time. */
final class VirtualBoards implements AutoCloseable {
    private static final String DEFAULT_NAME = "virtual";

    private final Path folder;
    private final List<Attached> attached = new ArrayList<>();

    /** A board with power. */
    private record Attached(String name, VirtualChip chip, VirtualProbe probe) {}

    /** Boards whose flash is kept in {@code <name>.bin} of a folder. */
    VirtualBoards(Path folder) {
        this.folder = folder;
    }

    /**
     * Switches boards on.
     *
     * @param names what they are called, separated by commas; empty or {@code all} for a single one
     */
    List<Probe> start(Optional<String> names) {
        String list =
                names.filter(text -> !text.isBlank() && !text.equals("all")).orElse(DEFAULT_NAME);
        List<Probe> probes = new ArrayList<>();
        for (String name : new LinkedHashSet<>(List.of(list.split(",", -1)))) {
            probes.add(start(name.strip()));
        }
        return probes;
    }

    private Probe start(String name) {
        if (!name.matches("[A-Za-z0-9_-]{1,60}")) {
            throw new KilnException(new Problem(
                    "cannot name a virtual board: '" + name + "'",
                    "kiln.probe",
                    "letters, digits, hyphens and underscores, or tcp:<host>:<port>",
                    ""));
        }
        Path file = file(name);
        VirtualChip chip = Files.exists(file) ? VirtualChip.of(FlashContent.load(file)) : VirtualChip.erased();
        VirtualProbe probe = VirtualProbe.start(chip, Faults.none());
        attached.add(new Attached(name, chip, probe));
        return new Probe.Virtual(name, new Probe.Remote("127.0.0.1", probe.port()));
    }

    private Path file(String name) {
        return folder.resolve(name + ".bin");
    }

    /** Switches the boards off and keeps what their flash holds. */
    @Override
    public void close() {
        for (Attached each : attached) {
            each.probe().close();
            each.chip().flash().save(file(each.name()));
        }
    }
}
