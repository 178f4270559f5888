// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.device.transport.FirmwareSession;
import io.kiln.process.Command;
import io.kiln.process.Executables;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Emulation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Starts images of one board.
 *
 * @param board a board that QEMU emulates, or this computer; for a board with a stand-in, the stand-in
 * @param limit time after which an image is stopped, whatever it does
 * @param log gets everything that the emulator and the image print
 */
public record Emulator(Board board, Duration limit, Optional<Path> log) {
    private static final Duration TO_LEAVE = Duration.ofSeconds(2);

    /** An emulator that keeps no log. */
    public static Emulator of(Board board, Duration limit) {
        return new Emulator(board, limit, Optional.empty());
    }

    /** How people and JSON files name what runs the image, such as {@code qemu-system-arm mps2-an386}. */
    public String name() {
        return board.emulation() instanceof Emulation.Qemu qemu
                ? qemu.program() + " " + qemu.machine()
                : "this computer";
    }

    /**
     * Starts an image; its console is the process's input and output.
     *
     * @param image ELF file linked for the board
     * @throws KilnException if the emulator is missing, naming the package that has it
     */
    public RunningProcess start(Path image) {
        return start(image, List.of());
    }

    /** As {@link #start(Path)}, with more arguments for QEMU. */
    RunningProcess start(Path image, List<String> more) {
        Command command = Command.ofLine(line(image, more)).within(limit);
        return ProcessRunner.start(log.map(command::loggingTo).orElse(command));
    }

    /**
     * Boots an image that holds the default application, talks to it, and ends it. No process is left behind.
     *
     * @param image ELF file linked for the board
     * @param console gets the text that the image prints
     * @param talk what to do with the application
     * @throws KilnException if the image or the emulator fails, with what they printed
     */
    public <T> T talk(Path image, Consumer<String> console, Function<FirmwareSession, T> talk) {
        try (RunningProcess process = start(image)) {
            try {
                FirmwareSession session = FirmwareSession.open(process.output(), process.input(), limit, console);
                T result = talk.apply(session);
                session.exit();
                process.waitFor(TO_LEAVE);
                return result;
            } catch (KilnException e) {
                throw explained(e, image, process);
            }
        }
    }

    /** Adds what the process said and how it ended to what failed. */
    KilnException explained(KilnException e, Path image, RunningProcess process) {
        Optional<Integer> code = process.waitFor(Duration.ofMillis(200));
        String said = process.errors().strip();
        List<Problem> problems = new ArrayList<>(e.problems());
        if (process.timedOut()) {
            problems.add(new Problem(
                    "the image ran longer than " + limit.toSeconds() + " s and was stopped", image.toString(), "", ""));
        } else if (code.isPresent() && code.get() != 0) {
            problems.add(new Problem(name() + " ended with code " + code.get(), image.toString(), "0", ""));
        }
        if (!said.isEmpty()) {
            problems.add(new Problem(name() + " said: " + said, "", "", ""));
        }
        KilnException more = new KilnException(problems);
        more.initCause(e);
        return more;
    }

    /** The whole command line. */
    public List<String> line(Path image, List<String> more) {
        List<String> line = new ArrayList<>();
        if (board.emulation() instanceof Emulation.Qemu qemu) {
            line.add(require(qemu.program()));
            line.addAll(List.of("-M", qemu.machine()));
            line.addAll(qemu.args());
            line.addAll(List.of("-kernel", image.toAbsolutePath().toString(), "-display", "none", "-monitor", "none"));
            // Calls that are sent to a debugger, of which there is none, open no file and start no program.
            String semihosting = qemu.fenced() ? "gdb" : "native";
            line.addAll(List.of("-serial", "stdio", "-semihosting-config", "enable=on,target=" + semihosting));
            line.addAll(more);
        } else if (board.emulation() instanceof Emulation.Native) {
            line.add(image.toAbsolutePath().toString());
        } else {
            throw new KilnException(
                    new Problem("the board " + board.id() + " has no emulator of its own", board.origin(), "", ""));
        }
        return line;
    }

    private static String require(String program) {
        return Executables.find(program)
                .orElseThrow(() -> new KilnException(new Problem(
                        program + " is not there",
                        "PATH",
                        "QEMU",
                        "Install it: apt-get install " + debianPackage(program))))
                .toString();
    }

    /** The Debian package that has a program of QEMU. */
    public static String debianPackage(String program) {
        return program.equals("qemu-system-arm") ? "qemu-system-arm" : "qemu-system-misc";
    }
}
