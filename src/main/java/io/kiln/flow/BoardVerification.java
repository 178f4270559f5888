// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.device.console.SerialConsole;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.flash.FlashResult;
import io.kiln.device.transport.FirmwareSession;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Emulation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Verifies on the board itself: brings the image there, unless it is to be taken as it is, and talks to it over its console. */
final class BoardVerification {
    private static final Duration TO_BOOT = Duration.ofSeconds(3);

    private final Log log;
    private final ResolvedBuild build;
    private final DeviceSpec device;
    private final Path logFile;

    BoardVerification(Log log, ResolvedBuild build, DeviceSpec device) {
        this.log = log;
        this.build = build;
        this.device = device;
        this.logFile = build.spec().layout().reports().resolve("verify.log");
    }

    /**
     * How the board did.
     *
     * @param ranOn the board and the probe, or the port, as reports name them
     * @param outcome what it answered
     */
    record Answer(String ranOn, Verification.Outcome outcome) {}

    /**
     * Runs the cases.
     *
     * @throws KilnException if the board cannot be flashed or reached, or does not answer; which of these, and what helps
     */
    Answer run(List<VerificationCases> models) {
        Board board = build.board();
        check(board);
        boolean isVirtual = board.openOcd()
                .filter(how -> VirtualBoards.areMeant(how, device.flash().probe()))
                .isPresent();
        log.info(
                device.isFlashed()
                        ? "Verification on the board flashes it first (kiln.flash.skip takes it as it is)"
                        : "Verification takes the board as it is: kiln.flash.skip is set");
        return isVirtual ? virtual(models) : overSerial(models);
    }

    private void check(Board board) {
        if (board.openOcd().isEmpty() && device.isFlashed()) {
            throw new KilnException(new Problem(
                    "the board " + board.id() + " has no flash runner, so the image cannot be brought there",
                    "kiln.verify.on",
                    "flash in " + board.origin(),
                    "Use -Dkiln.verify.on=emulator, or flash it by other means and set -Dkiln.flash.skip"));
        }
        if (device.flash()
                .probe()
                .filter(text -> text.contains(",") || text.equals("all"))
                .isPresent()) {
            throw new KilnException(new Problem(
                    "verification runs on one board, and kiln.probe names several",
                    "kiln.probe",
                    "one probe",
                    "Name one for mvn verify; mvn deploy -Dkiln.verify.on=emulator flashes several"));
        }
    }

    private Answer virtual(List<VerificationCases> models) {
        Board board = build.board();
        if (!(board.emulation() instanceof Emulation.Qemu)) {
            throw new KilnException(new Problem(
                    "nothing boots what the virtual board holds",
                    board.origin(),
                    "emulator: {qemu: …, machine: …}",
                    ""));
        }
        Path elf = elf();
        if (device.isFlashed()) {
            flash(elf);
        }
        VirtualBoards boards = new VirtualBoards(build.spec().layout().reports().resolve("virtual"));
        String name = boards.names(device.flash().probe()).get(0);
        Path content = boards.file(name);
        if (!Files.isRegularFile(content)) {
            throw new KilnException(new Problem(
                    "the virtual board '" + name + "' was not flashed yet",
                    content.toString(),
                    "what its flash holds",
                    "Leave out kiln.flash.skip"));
        }
        Emulator emulator = new Emulator(
                board,
                Verification.limit(models),
                Optional.of(logFile),
                build.spec().semihosting());
        String ranOn = board.id() + ", probe " + name + ": its flash content in " + emulator.name();
        return new Answer(ranOn, Verification.run(emulator, content, elf, models));
    }

    private Answer overSerial(List<VerificationCases> models) {
        Board board = build.board();
        BoardConsole line = new BoardConsole(board, device.console());
        // Named before anything is written, opened before the reset: the banner comes right behind it.
        String port = line.portBeside(device.flash().probe());
        ConsoleLog text = new ConsoleLog(logFile);
        FaultWatch faults = new FaultWatch(text);
        Path elf = elf();
        try (SerialConsole console = SerialConsole.open(port, line.baud())) {
            String probe = device.isFlashed() ? flash(elf) : "";
            try (FirmwareSession session = FirmwareSession.join(
                    console.input(), console.output(), TO_BOOT, Verification.limit(models), faults)) {
                Verification.Outcome outcome = Verification.run(session, models);
                String by = probe.isEmpty() ? "" : ", probe " + probe;
                return new Answer(board.id() + by + ", console " + port, outcome);
            }
        } catch (KilnException e) {
            throw ConsoleLog.located(faults.explained(e, elf), port + " at " + line.baud() + " baud");
        } finally {
            text.write();
        }
    }

    /** The image that answers; of a board that is taken as it is, the build's. */
    private Path elf() {
        return device.isFlashed()
                ? RunnableImage.forTheBoard(log, build).file()
                : build.spec().layout().image("elf");
    }

    /** Flashes the image that answers; the name of the probe. */
    private String flash(Path elf) {
        List<FlashResult> results = new FlashStep(log, build, device.flash()).flash(elf);
        return results.get(0).probe().text();
    }
}
