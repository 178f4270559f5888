// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Flashing;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Flashes boards with OpenOCD, each through a probe of its own. */
public final class OpenOcdRunner implements FlashRunner {
    private final OpenOcd openOcd;
    private final Manner manner;
    private final Map<Probe, FlashTarget> targets = new LinkedHashMap<>();

    /**
     * Settings for flashing.
     *
     * @param limit time for each of them
     * @param preverify whether an image that the device already holds is kept
     * @param logs folder for the whole output of the program, {@code flash.log} or a file for each probe
     */
    public record Manner(Duration limit, boolean preverify, Path logs) {
        /** The log of a device, one of several. */
        Path log(Probe probe, int devices) {
            return logs.resolve(name(probe, devices) + ".log");
        }

        private static String name(Probe probe, int devices) {
            return devices == 1 ? "flash" : "flash-" + probe.text().replaceAll("[^A-Za-z0-9_.-]", "_");
        }
    }

    /**
     * A runner for boards of one kind.
     *
     * @param board a board that OpenOCD reaches
     * @param scripts folders with the board's own scripts, searched before OpenOCD's
     * @param probes at least one
     * @throws KilnException if this version of OpenOCD lacks a script that the board names
     */
    public OpenOcdRunner(OpenOcd openOcd, Board board, List<Path> scripts, List<Probe> probes, Manner manner) {
        this.openOcd = openOcd;
        this.manner = manner;
        Flashing.OpenOcd how = board.openOcd().orElseThrow();
        probes.forEach(probe -> targets.put(probe, new FlashTarget(how, scripts, probe)));
        requireScripts(board.origin(), scripts);
    }

    private void requireScripts(String origin, List<Path> folders) {
        Set<String> needed = new TreeSet<>();
        targets.values().forEach(target -> needed.addAll(target.neededScripts()));
        Set<String> missing = openOcd.missing(List.copyOf(needed), folders);
        if (!missing.isEmpty()) {
            String detail = String.join(", ", missing) + " (" + openOcd.version() + ")";
            throw FlashFailure.before(Kind.SCRIPT_MISSING, detail).exception(origin);
        }
    }

    @Override
    public String tool() {
        return openOcd.version();
    }

    @Override
    public List<Probe> probes() {
        return List.copyOf(targets.keySet());
    }

    @Override
    public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
        Path log = manner.log(probe, targets.size());
        return new Flasher(openOcd, manner.limit(), manner.preverify(), Optional.of(log))
                .flash(targets.get(probe), image, progress);
    }

    @Override
    public List<Bytes> read(Probe probe, List<Range> ranges) {
        Path log = manner.logs().resolve(Manner.name(probe, targets.size()) + "-read.log");
        return new MemoryReader(openOcd, manner.limit(), log).read(targets.get(probe), ranges);
    }

    /** Does nothing: nothing is held between runs of OpenOCD. */
    @Override
    public void close() {}
}
