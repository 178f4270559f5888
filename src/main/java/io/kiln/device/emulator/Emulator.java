// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.device.protocol.Conversation;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.transport.Transport;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Starts images of one board.
 *
 * @param board a board that QEMU emulates, or this computer; for a board with a stand-in, the stand-in
 * @param limit time after which an image is stopped, whatever it does
 * @param log gets what the emulator and the image print, as far as a log may grow
 * @param semihosting whether images may open files and start programs of this computer, because the user asked for it
 */
public record Emulator(Board board, Duration limit, Optional<Path> log, boolean semihosting) {
    /** Arguments by which QEMU reads no file and reaches nothing. */
    private static final Pattern HARMLESS =
            Pattern.compile("(?:(?:^| )(?:-bios none|-m [0-9]{1,4}[KMG]?|-cpu [A-Za-z0-9_.-]{1,40}))*");

    private static final int MOST_SAID = 2000;

    /** What QEMU says of a network card that leads nowhere, as all do. */
    private static final String NO_NETWORK = "has no peer";

    /** What QEMU says when somebody else ends it; its exit code is 0 then. */
    private static final String BY_SIGNAL = "terminating on signal";

    /** An emulator that keeps no log. */
    public static Emulator of(Board board, Duration limit) {
        return new Emulator(board, limit, Optional.empty(), false);
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
        return start(Command.ofLine(line(image, more)));
    }

    /** Starts QEMU with a folder of its own for its sockets, which goes with it. */
    RunningProcess start(Path image, List<String> more, Path folder) {
        return start(Command.ofLine(line(image, more)).owning(folder));
    }

    private RunningProcess start(Command line) {
        Command command = line.within(limit);
        return ProcessRunner.start(log.map(command::loggingTo).orElse(command));
    }

    /**
     * Starts an image and opens the line to it.
     *
     * @param image ELF file linked for the board, or what a board's flash holds
     * @return closing it ends the image, so that no process is left behind
     * @throws KilnException if the emulator is missing, naming the package that has it
     */
    public Transport boot(Path image) {
        return new EmulatorTransport(this, image, start(image));
    }

    /**
     * Boots an image that answers a host, talks to it, and ends it. No process is left behind.
     *
     * @param image ELF file linked for the board
     * @param protocol what its application speaks
     * @param console gets the text that the image prints
     * @param talk what to do with the application
     * @throws KilnException if the image or the emulator fails, with what they printed
     */
    public <T> T talk(Path image, Protocol protocol, Consumer<String> console, Function<ModelSession, T> talk) {
        try (Transport line = boot(image)) {
            return new Conversation(protocol, image, console).over(line, talk);
        }
    }

    /** Adds what the process said and how it ended to what failed. */
    public KilnException explained(KilnException e, Path image, RunningProcess process) {
        List<Problem> problems = new ArrayList<>(e.problems());
        problems.addAll(howItEnded(image, process));
        KilnException more = new KilnException(problems);
        more.initCause(e);
        return more;
    }

    /** What is wrong with how a process ended, and what it said; empty if it runs, or ended well and quietly. */
    public List<Problem> howItEnded(Path image, RunningProcess process) {
        Optional<Integer> code = process.waitFor(Duration.ofMillis(200));
        List<Problem> problems = new ArrayList<>();
        String said = said(process);
        if (process.timedOut()) {
            problems.add(new Problem(
                    "the image ran longer than " + limit.toSeconds() + " s and was stopped", image.toString(), "", ""));
        } else if (code.isPresent() && !process.isClosed() && (code.get() != 0 || said.contains(BY_SIGNAL))) {
            problems.add(new Problem(
                    (board.isHost() ? "the image" : name()) + " ended with code " + code.get(),
                    image.toString(),
                    "0",
                    ""));
        }
        if (process.flooded()) {
            problems.add(new Problem(name() + " printed more errors than anybody reads and was stopped", "", "", ""));
        }
        if (!said.isEmpty()) {
            problems.add(new Problem(name() + " said: " + said, "", "", ""));
        }
        return problems;
    }

    private static String said(RunningProcess process) {
        String said = process.errors()
                .lines()
                .filter(line -> !line.contains(NO_NETWORK))
                .collect(Collectors.joining("\n"))
                .strip();
        return said.length() <= MOST_SAID ? said : said.substring(0, MOST_SAID) + "…";
    }

    /**
     * The whole command line.
     *
     * @throws KilnException if the board has no emulator of its own, or switches semihosting on without being asked to
     */
    public List<String> line(Path image, List<String> more) {
        if (board.emulation() instanceof Emulation.Qemu qemu) {
            checkSemihosting(qemu);
            checkArguments(qemu);
            return QemuLine.of(qemu, image.toAbsolutePath().toString())
                    .semihosting(semihosting)
                    .with(more)
                    .words();
        }
        if (board.emulation() instanceof Emulation.Native) {
            return List.of(image.toAbsolutePath().toString());
        }
        throw new KilnException(
                new Problem("the board " + board.id() + " has no emulator of its own", board.origin(), "", ""));
    }

    /** A stranger's image must not get a network, drives or files by arguments that its board inherits from one that is trusted. */
    private void checkArguments(Emulation.Qemu qemu) {
        if (qemu.fenced() && !HARMLESS.matcher(String.join(" ", qemu.args())).matches()) {
            throw new KilnException(new Problem(
                    "the arguments of QEMU may reach this computer, and the image holds code that is not trusted",
                    board.origin(),
                    "emulator.args of -bios none, -m and -cpu only",
                    "If you trust who wrote it, set kiln.trustBoard with its coordinates"));
        }
    }

    private void checkSemihosting(Emulation.Qemu qemu) {
        if (semihosting && qemu.fenced()) {
            throw new KilnException(new Problem(
                    "code of the board " + board.id() + " could open files and start programs by semihosting",
                    "kiln.semihosting",
                    "a board that is trusted",
                    "If you trust who wrote it, set kiln.trustBoard with its coordinates"));
        }
        if (!semihosting && qemu.args().stream().anyMatch(arg -> arg.contains("semihosting"))) {
            throw new KilnException(new Problem(
                    "the board " + board.id()
                            + " switches semihosting on, by which images open files and start programs",
                    board.origin(),
                    "emulator.args without it",
                    "Take it out, or allow it: -Dkiln.semihosting"));
        }
    }

    /** The Debian package that has a program of QEMU. */
    public static String debianPackage(String program) {
        return program.equals("qemu-system-arm") ? "qemu-system-arm" : "qemu-system-misc";
    }
}
