// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.device.flash.Probe;
import io.kiln.device.probe.Faults;
import io.kiln.device.probe.FlashContent;
import io.kiln.device.probe.VirtualChip;
import io.kiln.device.probe.VirtualProbe;
import io.kiln.toolchain.board.Board;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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

    /** Whether a board is one of these, rather than one behind a server elsewhere. */
    static boolean areMeant(Board.OpenOcd how, Optional<String> probe) {
        return how.isVirtual() && probe.filter(text -> text.startsWith("tcp:")).isEmpty();
    }

    /**
     * What the boards are called.
     *
     * @param probe names separated by commas; empty or {@code all} for a single one
     * @throws KilnException if that cannot be a name
     */
    static List<String> names(Optional<String> probe) {
        String list =
                probe.filter(text -> !text.isBlank() && !text.equals("all")).orElse(DEFAULT_NAME);
        Set<String> names = new LinkedHashSet<>();
        for (String each : list.split(",", -1)) {
            String name = each.strip();
            if (!name.matches("[A-Za-z0-9_-]{1,60}")) {
                throw new KilnException(new Problem(
                        "cannot name a virtual board: '" + name + "'",
                        "kiln.probe",
                        "letters, digits, hyphens and underscores, or tcp:<host>:<port>",
                        ""));
            }
            names.add(name);
        }
        return List.copyOf(names);
    }

    /**
     * Switches boards on.
     *
     * @param faults what shall go wrong, see {@link BoardFaults}
     */
    List<Probe> start(List<String> names, Optional<String> faults) {
        Map<String, Faults> byName = BoardFaults.parse(faults.orElse(""), names);
        List<Probe> probes = new ArrayList<>();
        for (String name : names) {
            Path file = file(name);
            VirtualChip chip = Files.exists(file) ? VirtualChip.of(FlashContent.load(file)) : VirtualChip.erased();
            VirtualProbe probe = VirtualProbe.start(chip, byName.get(name));
            attached.add(new Attached(name, chip, probe));
            probes.add(new Probe.Virtual(name, new Probe.Remote("127.0.0.1", probe.port())));
        }
        return probes;
    }

    /** What the flash of the board of this name holds; the file is not there before the board was flashed. */
    Path file(String name) {
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
