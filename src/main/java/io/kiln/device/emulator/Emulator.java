// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.device.emulator.ProgramWatch.WatchedProgram;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.protocol.Protocol.Conversation;
import io.kiln.device.transport.Transport;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Runs images of one board.
 *
 * @param board a board that QEMU emulates, or the board {@code host}; for a board with a stand-in, the stand-in
 * @param limit time after which an image is stopped
 * @param log gets the output of emulator and image, up to the limit of a log
 * @param semihosting whether images may open files and start programs on this computer, because the user asked for it
 */
public record Emulator(Board board, Duration limit, Optional<Path> log, boolean semihosting) {
    /** Arguments of QEMU that read no file and reach nothing outside the emulator. */
    private static final Pattern HARMLESS =
            Pattern.compile("(?:(?:^| )(?:-bios none|-m [0-9]{1,4}[KMG]?|-cpu [A-Za-z0-9_.-]{1,40}))*");

    /** Arguments for virtual time: an instruction takes one nanosecond, and waiting none. */
    private static final List<String> VIRTUAL_TIME = List.of("-icount", "shift=0,sleep=off");

    /** Factor by which a machine's process may take longer than the machine's limit, on a busy computer. */
    private static final int PATIENCE = 20;

    private static final Duration TO_START = Duration.ofSeconds(60);

    private static final int MOST_SAID = 2000;

    /** QEMU's message about a network card without a network, which all have. */
    private static final String NO_NETWORK = "has no peer";

    /** QEMU's message in virtual time, when an image sleeps until it is spoken to. */
    private static final String ASLEEP = "icount sleep disabled and no active timers";

    /** QEMU's message when it is ended by a signal; its exit code is 0 then. */
    private static final String BY_SIGNAL = "terminating on signal";

    /** An emulator without a log. */
    public static Emulator of(Board board, Duration limit) {
        return new Emulator(board, limit, Optional.empty(), false);
    }

    /** The name of what runs the image in messages and JSON files, such as {@code qemu-system-arm mps2-an386}. */
    public String name() {
        return board.emulation() instanceof Emulation.Qemu qemu
                ? qemu.program() + " " + qemu.machine()
                : "this computer";
    }

    /**
     * Starts an image; its console is the process's input and output.
     *
     * @param image ELF file linked for the board
     * @throws KilnException if the emulator is missing, with the package that contains it
     */
    public RunningProcess start(Path image) {
        return start(image, List.of());
    }

    /** Starts an image as {@link #start(Path)} does, with more arguments for QEMU. */
    RunningProcess start(Path image, List<String> more) {
        return start(Command.ofLine(line(image, more)), line -> false);
    }

    /** Starts QEMU with its own folder for sockets, which is deleted with it. */
    RunningProcess start(Path image, List<String> more, Path folder) {
        return start(image, more, folder, line -> false);
    }

    /** Starts QEMU as {@link #start(Path, List, Path)} does, and takes lines of QEMU's own log out of its standard error. */
    RunningProcess start(Path image, List<String> more, Path folder, Predicate<String> takes) {
        return start(Command.ofLine(line(image, more)).owning(folder), takes);
    }

    private RunningProcess start(Command line, Predicate<String> takes) {
        Command command = line.within(limit);
        return ProcessRunner.start(log.map(command::loggingTo).orElse(command), takes);
    }

    /**
     * Starts a program of the user's own. In QEMU, time is the machine's, and the limit with it; a machine that does not get on is stopped all
     * the same after a multiple of it.
     *
     * @param image ELF file linked for the board
     * @return closing it ends the program
     * @throws KilnException if the emulator is missing, with the package that contains it
     */
    public WatchedProgram watch(Path image) {
        if (board.isHost()) {
            return WatchedProgram.onThisComputer(image, start(image));
        }
        Path folder = InstructionCounter.temporaryFolder();
        Path socket = folder.resolve(InstructionCounter.MONITOR);
        return WatchedProgram.inQemu(image, patient().start(image, watched(socket), folder), socket);
    }

    /** Arguments with which a monitor tells a machine's time. */
    static List<String> watched(Path socket) {
        return List.of("-icount", "shift=3,sleep=on", "-qmp", "unix:" + socket + ",server=on,wait=off");
    }

    /** A copy that gives a process more time than a machine's limit. */
    Emulator patient() {
        return new Emulator(board, limit.multipliedBy(PATIENCE).plus(TO_START), log, semihosting);
    }

    /**
     * Starts an image and connects to its console. In QEMU time is virtual: each instruction takes a nanosecond, and the image's timers
     * count the same on every run.
     *
     * @param image ELF file linked for the board, or the content of a board's flash
     * @return closing it ends the image and its process
     * @throws KilnException if the emulator is missing, with the package that contains it
     */
    public Transport boot(Path image) {
        return new EmulatorTransport(this, image, start(image, board.isHost() ? List.of() : VIRTUAL_TIME));
    }

    /**
     * Boots an image that answers a host, talks to it, and ends its process.
     *
     * @param image ELF file linked for the board
     * @param protocol what its application speaks
     * @param console gets the text printed by the image
     * @param talk what to do with the session
     * @throws KilnException if the image or the emulator fails, with their output
     */
    public <T> T talk(Path image, Protocol protocol, Consumer<String> console, Function<ModelSession, T> talk) {
        try (Transport line = boot(image)) {
            return new Conversation(protocol, image, console).over(line, talk);
        }
    }

    /** Adds the process's output and exit to a failure. */
    public KilnException explained(KilnException e, Path image, RunningProcess process) {
        List<Problem> problems = new ArrayList<>(e.problems());
        problems.addAll(howItEnded(image, process));
        KilnException more = new KilnException(problems);
        more.initCause(e);
        return more;
    }

    /** What went wrong in a process, with its output; empty if it runs, or ended normally and without output. */
    public List<Problem> howItEnded(Path image, RunningProcess process) {
        Optional<Integer> code = process.waitFor(Duration.ofMillis(200));
        List<Problem> problems = new ArrayList<>();
        String said = said(process);
        if (process.timedOut()) {
            problems.add(Failure.RUN.problem(
                    "the image ran longer than " + limit.toSeconds() + " s and was stopped", image.toString()));
        } else if (code.isPresent() && !process.isClosed() && (code.get() != 0 || said.contains(BY_SIGNAL))) {
            problems.add(Failure.RUN.problem(
                    (board.isHost() ? "the image" : name()) + " ended with code " + code.get(), image.toString(), "0"));
        }
        if (process.flooded()) {
            problems.add(Failure.RUN.problem(name() + " printed too many errors and was stopped", ""));
        }
        if (!said.isEmpty()) {
            problems.add(Failure.RUN.problem(name() + " said: " + said, ""));
        }
        return problems;
    }

    private static String said(RunningProcess process) {
        String said = process.errors()
                .lines()
                .filter(line -> !line.contains(NO_NETWORK) && !line.contains(ASLEEP))
                .collect(Collectors.joining("\n"))
                .strip();
        return said.length() <= MOST_SAID ? said : said.substring(0, MOST_SAID) + "…";
    }

    /**
     * The whole command line.
     *
     * @throws KilnException if the board has no emulator of its own, or enables semihosting without permission
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
        throw Failure.BOARD.exception("the board " + board.id() + " has no emulator of its own", board.origin());
    }

    /** Refuses arguments by which an untrusted image would get a network, drives or files: its board may inherit them from a trusted one. */
    private void checkArguments(Emulation.Qemu qemu) {
        if (qemu.fenced() && !HARMLESS.matcher(String.join(" ", qemu.args())).matches()) {
            throw Failure.TRUST.exception(
                    "the arguments of QEMU may give the image access to this computer, but it contains code that is"
                            + " not trusted",
                    board.origin(),
                    "emulator.args of -bios none, -m and -cpu only",
                    "If you trust who wrote it, set kiln.trustBoard with its coordinates");
        }
    }

    private void checkSemihosting(Emulation.Qemu qemu) {
        if (semihosting && qemu.fenced()) {
            throw Failure.TRUST.exception(
                    "code of the board " + board.id() + " could open files and start programs by semihosting",
                    "kiln.semihosting",
                    "a board that is trusted",
                    "If you trust who wrote it, set kiln.trustBoard with its coordinates");
        }
        if (!semihosting && qemu.args().stream().anyMatch(arg -> arg.contains("semihosting"))) {
            throw Failure.BOARD.exception(
                    "the board " + board.id() + " enables semihosting, by which images open files and start programs",
                    board.origin(),
                    "emulator.args without it",
                    "Remove it, or allow it: -Dkiln.semihosting");
        }
    }

    /** The Debian package that contains a program of QEMU. */
    public static String debianPackage(String program) {
        return program.equals("qemu-system-arm") ? "qemu-system-arm" : "qemu-system-misc";
    }

    /**
     * A command line of QEMU; the only place that builds one. The machine has no network and none of QEMU's default
     * devices, reads no user configuration, and has semihosting only if asked for, because semihosting lets an image open
     * files and start programs on this computer.
     *
     * @param qemu the QEMU program and machine
     * @param image file to boot
     * @param hasConsole whether the first serial port is standard input and output; otherwise there is none
     * @param semihosting whether the image may use semihosting
     * @param more further arguments
     */
    public record QemuLine(
            Emulation.Qemu qemu, String image, boolean hasConsole, boolean semihosting, List<String> more) {
        /**
         * Arguments for the console. They read standard input whether the serial port is ready or not: some models of UARTs do not
         * report readiness, and QEMU would wait forever. The multiplexer does that; no byte is its escape character.
         */
        private static final List<String> CONSOLE = List.of(
                "-chardev", "stdio,id=console,mux=on,signal=off", "-serial", "chardev:console", "-echr", "0x100");

        public QemuLine {
            more = List.copyOf(more);
        }

        /** A machine with its console on standard input and output, and no other devices. */
        public static QemuLine of(Emulation.Qemu qemu, String image) {
            return new QemuLine(qemu, image, true, false, List.of());
        }

        /** A copy without a console. */
        public QemuLine withoutConsole() {
            return new QemuLine(qemu, image, false, semihosting, more);
        }

        /** A copy with or without semihosting. */
        public QemuLine semihosting(boolean isWanted) {
            return new QemuLine(qemu, image, hasConsole, isWanted, more);
        }

        public QemuLine with(List<String> further) {
            return new QemuLine(qemu, image, hasConsole, semihosting, further);
        }

        /**
         * Program and arguments. The board's own arguments come first, because the last semihosting setting wins in QEMU.
         *
         * @throws KilnException if the program is missing, with the package that contains it
         */
        public List<String> words() {
            List<String> words =
                    new ArrayList<>(List.of(program(), "-M", qemu.machine(), "-nodefaults", "-no-user-config"));
            words.addAll(qemu.args());
            words.addAll(List.of("-kernel", image, "-display", "none", "-monitor", "none", "-nic", "none"));
            words.addAll(hasConsole ? CONSOLE : List.of("-serial", "none"));
            words.addAll(more);
            words.addAll(List.of("-semihosting-config", semihosting ? "enable=on,target=native" : "enable=off"));
            return List.copyOf(words);
        }

        private String program() {
            return Executables.find(qemu.program())
                    .orElseThrow(() -> Failure.TOOL.exception(
                            qemu.program() + " is missing",
                            "PATH",
                            "QEMU",
                            "Install it: apt-get install " + Emulator.debianPackage(qemu.program())))
                    .toString();
        }
    }

    /**
     * The console of an image in an emulator or on this computer: the process's standard input and output.
     *
     * @param image the ELF file
     * @param process the running emulator; closing the transport ends it
     * @param held whether a client holds the line
     */
    record EmulatorTransport(Emulator emulator, Path image, RunningProcess process, AtomicBoolean held)
            implements Transport {
        /** A line that nobody holds. */
        EmulatorTransport(Emulator emulator, Path image, RunningProcess process) {
            this(emulator, image, process, new AtomicBoolean());
        }

        @Override
        public InputStream input() {
            return process.output();
        }

        @Override
        public OutputStream output() {
            return process.input();
        }

        @Override
        public boolean ownsProgram() {
            return true;
        }

        @Override
        public KilnException explained(KilnException failure) {
            return emulator.explained(failure, image, process);
        }

        @Override
        public void close() {
            process.close();
        }
    }
}
