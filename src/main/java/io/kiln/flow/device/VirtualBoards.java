// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.device.flash.Probe;
import io.kiln.device.probe.Faults;
import io.kiln.device.probe.VirtualProbe;
import io.kiln.device.probe.VirtualProbe.VirtualChip;
import io.kiln.device.probe.VirtualProbe.VirtualChip.FlashContent;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.toolchain.board.Flashing;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Boards that exist only while they are flashed; a file keeps each board's flash content until the next time. */
final class VirtualBoards implements AutoCloseable {
    private static final String DEFAULT_NAME = "virtual";
    private static final String ALL = "all";
    private static final String CONTENT = ".bin";
    private static final String WHERE = "kiln.probe.faults";

    private final Path folder;
    private final List<Attached> attached = new ArrayList<>();

    /** A board that is switched on. */
    private record Attached(String name, VirtualChip chip, VirtualProbe probe) {}

    private VirtualBoards(Path folder) {
        this.folder = folder;
    }

    /** The virtual boards of a build; their flash content is kept in {@code virtual/<name>.bin} in its folder of reports. */
    static VirtualBoards of(BuildSpec.Layout layout) {
        return new VirtualBoards(layout.reports().resolve("virtual"));
    }

    /** Whether the board is virtual and the probe does not name a server elsewhere. */
    static boolean areMeant(Flashing.OpenOcd how, Optional<String> probe) {
        return how.isVirtual() && probe.filter(text -> text.startsWith("tcp:")).isEmpty();
    }

    /**
     * The names of the selected boards.
     *
     * @param probe names separated by commas; {@code all} for those flashed before; empty for a single one
     * @throws KilnException if a name is invalid
     */
    List<String> names(Optional<String> probe) {
        List<String> known = probe.filter(ALL::equals).isPresent() ? known() : List.of();
        return known.isEmpty() ? given(probe) : known;
    }

    private List<String> known() {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        return WholeFiles.list(folder).stream()
                .map(file -> file.getFileName().toString())
                .filter(file -> file.endsWith(CONTENT))
                .map(file -> file.substring(0, file.length() - CONTENT.length()))
                .sorted()
                .toList();
    }

    private static List<String> given(Optional<String> probe) {
        String list = probe.filter(text -> !text.isBlank() && !text.equals(ALL)).orElse(DEFAULT_NAME);
        Set<String> names = new LinkedHashSet<>();
        for (String each : list.split(",", -1)) {
            String name = each.strip();
            if (!name.matches("[A-Za-z0-9_-]{1,60}")) {
                throw Failure.CONFIG.exception(
                        "not a valid name of a virtual board: '" + name + "'",
                        "kiln.probe",
                        "letters, digits, hyphens and underscores, or tcp:<host>:<port>");
            }
            names.add(name);
        }
        return List.copyOf(names);
    }

    /**
     * Switches boards on.
     *
     * @param faults faults to inject: {@code [<board>/]<fault>}, separated by commas; without a board name, a fault applies to all
     */
    List<Probe> start(List<String> names, Optional<String> faults) {
        Map<String, Faults> byName = faults(faults.orElse(""), names);
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

    /** The flash content of a board; the file does not exist before the board is flashed. */
    Path file(String name) {
        return folder.resolve(name + CONTENT);
    }

    /** Switches the boards off and saves their flash content. */
    @Override
    public void close() {
        for (Attached each : attached) {
            each.probe().close();
            each.chip().flash().save(file(each.name()));
        }
    }

    /**
     * The faults of each board.
     *
     * @param names the boards' names
     * @throws KilnException if there is no such board or no such fault
     */
    private static Map<String, Faults> faults(String text, List<String> names) {
        Map<String, StringBuilder> texts = new LinkedHashMap<>();
        names.forEach(name -> texts.put(name, new StringBuilder()));
        for (String each : text.split(",", -1)) {
            int slash = each.indexOf('/');
            List<String> meant =
                    slash < 0 ? names : List.of(each.substring(0, slash).strip());
            for (String name : meant) {
                if (!texts.containsKey(name)) {
                    throw Failure.DEVICE.exception(
                            "there is no virtual board '" + name + "' for the fault",
                            WHERE,
                            "one of " + String.join(", ", names),
                            "Name the boards with kiln.probe");
                }
                texts.get(name).append(each.substring(slash + 1)).append(',');
            }
        }
        Map<String, Faults> faults = new LinkedHashMap<>();
        texts.forEach((name, list) -> faults.put(name, Faults.parse(list.toString(), WHERE)));
        return faults;
    }
}
