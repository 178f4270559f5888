// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.device.flash.FlashFailure;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashImage;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashResult;
import io.kiln.device.flash.FlashTarget;
import io.kiln.device.flash.Flasher;
import io.kiln.device.flash.OpenOcd;
import io.kiln.device.flash.Probe;
import io.kiln.report.FlashReport;
import io.kiln.toolchain.board.Board;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/** Writes the image to one device or to several at once, proves it by reading it back, and keeps a record. */
final class FlashStep {
    private final Log log;
    private final ResolvedBuild build;
    private final FlashSpec spec;

    FlashStep(Log log, ResolvedBuild build, FlashSpec spec) {
        this.log = log;
        this.build = build;
        this.spec = spec;
    }

    /**
     * Flashes the build's image; a board that has no flash runner is told in one line and is no failure.
     *
     * @throws KilnException if any device does not hold the image afterwards, with the class of each failure and its remedy
     */
    void run() {
        Board board = build.board();
        if (board.openOcd().isEmpty()) {
            log.info("Nothing to flash: the board " + board.id() + " has no flash runner (flash in its board.yaml)");
            return;
        }
        flash(build.spec().layout().image("elf"));
    }

    /** Flashes an image, as {@link #run} does, to a board that has a flash runner. */
    List<FlashResult> flash(Path elf) {
        Board board = build.board();
        FlashImage image = BoardImage.read(board, elf);
        OpenOcd openOcd =
                OpenOcd.find(spec.openOcd()).orElseThrow(() -> refused("kiln:flash", OpenOcd.absent(spec.openOcd())));
        try (VirtualBoards virtual =
                new VirtualBoards(build.spec().layout().reports().resolve("virtual"))) {
            return flash(elf, image, openOcd, probes(board.openOcd().orElseThrow(), virtual));
        }
    }

    private List<Probe> probes(Board.OpenOcd how, VirtualBoards virtual) {
        if (VirtualBoards.areMeant(how, spec.probe())) {
            return virtual.start(virtual.names(spec.probe()), spec.faults());
        }
        if (spec.faults().filter(text -> !text.isBlank()).isPresent()) {
            throw new KilnException(new Problem(
                    "only virtual boards have faults to order",
                    "kiln.probe.faults",
                    "a board such as virtual-stm32f405",
                    "Leave it out"));
        }
        return new ProbeChoice(spec.probe()).choose(how);
    }

    private List<FlashResult> flash(Path elf, FlashImage image, OpenOcd openOcd, List<Probe> probes) {
        Board board = build.board();
        List<Path> scripts = BoardScripts.write(board, build.spec().layout());
        List<FlashTarget> targets = probes.stream()
                .map(probe -> new FlashTarget(board.openOcd().orElseThrow(), scripts, probe))
                .toList();
        checkScripts(openOcd, targets, scripts);
        log.info("Flashing " + elf.getFileName() + " (" + image.size() + " bytes) to " + board.id() + " with "
                + openOcd.version() + (probes.size() > 1 ? ", " + probes.size() + " probes" : ""));
        List<FlashResult> results = recorded(elf, image, openOcd, targets);
        Problems problems = new Problems();
        for (FlashResult result : results) {
            tell(result);
            result.failure()
                    .ifPresent(failure -> problems.add(problem(result.probe().text(), failure)));
        }
        problems.throwIfAny();
        return results;
    }

    private void checkScripts(OpenOcd openOcd, List<FlashTarget> targets, List<Path> scripts) {
        Set<String> needed = new TreeSet<>();
        targets.forEach(target -> needed.addAll(target.neededScripts()));
        Set<String> missing = openOcd.missing(List.copyOf(needed), scripts);
        if (!missing.isEmpty()) {
            throw refused(
                    build.board().origin(),
                    new FlashFailure(
                            Kind.SCRIPT_MISSING,
                            String.join(", ", missing) + " (" + openOcd.version() + ")",
                            OptionalLong.empty(),
                            false));
        }
    }

    private Flasher flasher(OpenOcd openOcd, Probe probe, int count) {
        String name = count == 1 ? "flash" : "flash-" + probe.text().replaceAll("[^A-Za-z0-9_.-]", "_");
        Path file = build.spec().layout().reports().resolve(name + ".log");
        return new Flasher(openOcd, spec.limit(), spec.preverify(), Optional.of(file));
    }

    /** One device shows how far it is; several would only confuse. */
    private FlashProgress progress(int devices, long bytes) {
        if (devices > 1) {
            return FlashProgress.QUIET;
        }
        return spec.bar() ? new ProgressBar(System.out, bytes) : new ProgressLines(log, bytes);
    }

    private void tell(FlashResult result) {
        String probe = result.probe().text();
        String seconds = String.format(Locale.ROOT, "%.1f s", result.elapsed().toMillis() / 1000.0);
        if (!result.succeeded()) {
            log.warn(probe + ": failed after " + seconds + ": "
                    + result.failure().get().text());
        } else if (result.unchanged()) {
            log.info(probe + ": holds this image already, verified " + result.bytes() + " bytes, started it in "
                    + seconds);
        } else {
            log.info(probe + ": flashed and verified " + result.bytes() + " bytes in " + seconds);
        }
    }

    static KilnException refused(String where, FlashFailure failure) {
        return new KilnException(problem(where, failure));
    }

    private static Problem problem(String where, FlashFailure failure) {
        return new Problem(failure.text(), where, "", failure.kind().remedy());
    }

    private List<FlashResult> recorded(Path elf, FlashImage image, OpenOcd openOcd, List<FlashTarget> targets) {
        FlashReport.Entry entry = new FlashReport.Entry(
                new FlashReport.Image(elf.getFileName().toString(), digest(elf), image.size()),
                spec.coordinates().orElse(null),
                build.board().id(),
                null,
                openOcd.version(),
                Instant.now().truncatedTo(ChronoUnit.MILLIS).toString(),
                0,
                "",
                null);
        Path file = build.spec().layout().reports().resolve("flash.json");
        try (FlashRecord record = FlashRecord.begin(file, spec.log(), entry, targets, log)) {
            return ParallelFlash.run(targets, log, target -> {
                FlashResult result = flasher(openOcd, target.probe(), targets.size())
                        .flash(target, image, progress(targets.size(), image.size()));
                record.done(target, result);
                return result;
            });
        }
    }

    private static String digest(Path file) {
        try {
            return Digests.sha256(Files.readAllBytes(file));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }
}
