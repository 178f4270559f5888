// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.device.emulator.DebugStub.Architecture;
import io.kiln.device.emulator.DebugStub.Stop;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Emulation;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Checks that the user's own program runs with the runtime, by breakpoints on the functions in which it ends when
 * something fails. The program is the unchanged image that will be flashed; it need not answer the host and may run
 * forever.
 *
 * @param emulator the board, and the time to watch
 */
public record ProgramWatch(Emulator emulator) {
    private static final String ABORT = "TVMPlatformAbort";
    private static final String MEMORY = "StackMemoryManager_Init";
    private static final String FAULT = "kiln_fault";
    private static final String EXIT = "kiln_board_exit";
    private static final Duration TO_CONNECT = Duration.ofSeconds(10);
    private static final Duration TO_END = Duration.ofSeconds(2);

    /** The kind of a program's end. */
    public enum Kind {
        /** It ran to its end, or as long as it was watched, without an error. */
        FINE,
        /** The runtime reported an error: the program fails on any machine. */
        RUNTIME,
        /** A fault, or an exit code other than 0; another machine may have hardware that this one lacks. */
        MACHINE
    }

    /**
     * The result of watching a program.
     *
     * @param problem what went wrong, for people; empty if nothing
     */
    public record Verdict(Kind kind, Optional<Problem> problem) {}

    /**
     * Boots a program and watches it until it ends, fails or its time is over.
     *
     * @param image ELF file with its symbols, linked for the emulator's board
     * @throws KilnException if the emulator is missing or fails
     */
    public Verdict watch(Path image) {
        return emulator.board().emulation() instanceof Emulation.Qemu ? inQemu(image) : onThisComputer(image);
    }

    private Verdict onThisComputer(Path image) {
        try (RunningProcess process = emulator.start(image)) {
            drain(process);
            return ended(process, image);
        }
    }

    private Verdict inQemu(Path image) {
        ElfFile elf = ElfFile.read(image);
        Path socket = socket();
        List<String> arguments = List.of("-S", "-gdb", "unix:" + socket + ",server=on,wait=off");
        try (RunningProcess process = emulator.start(image, arguments)) {
            drain(process);
            try (DebugStub stub = DebugStub.connect(socket, Architecture.of(elf), TO_CONNECT)) {
                for (String function : List.of(ABORT, MEMORY, FAULT, EXIT)) {
                    address(elf, function).ifPresent(stub::stopAt);
                }
                return follow(stub, elf, image);
            } catch (KilnException e) {
                // The stub's connection ends with QEMU: only the reason of QEMU's end matters.
                if (process.waitFor(TO_END).isEmpty()) {
                    throw emulator.explained(e, image, process);
                }
                return ended(process, image);
            }
        } finally {
            delete(socket);
        }
    }

    private static Verdict follow(DebugStub stub, ElfFile elf, Path image) {
        while (true) {
            stub.resume();
            Stop stop = stub.await();
            if (isAt(elf, MEMORY, stop)) {
                // QEMU would stop again at once at the current address.
                stub.passBy(stop.address());
                stub.stopAt(stop.returnAddress());
                stub.resume();
                Stop back = stub.await();
                if (back.address() == stop.returnAddress() && back.result() != 0) {
                    return wrong(Kind.RUNTIME, MEMORY + " returned " + hex(back.result()), image);
                }
                stub.passBy(stop.returnAddress());
                stub.stopAt(stop.address());
                stop = back;
            }
            if (isAt(elf, ABORT, stop)) {
                return wrong(Kind.RUNTIME, "it called " + ABORT + " with error " + hex(stop.result()), image);
            }
            if (isAt(elf, FAULT, stop)) {
                return wrong(Kind.MACHINE, "it stopped with a fault; kiln:run shows which", image);
            }
            if (isAt(elf, EXIT, stop)) {
                return stop.result() == 0
                        ? new Verdict(Kind.FINE, Optional.empty())
                        : wrong(Kind.MACHINE, "it ended with code " + (int) stop.result(), image);
            }
        }
    }

    private Verdict ended(RunningProcess process, Path image) {
        Optional<Integer> code = process.waitFor(emulator.limit().plus(TO_END));
        return process.timedOut() || code.isEmpty() || code.get() == 0
                ? new Verdict(Kind.FINE, Optional.empty())
                : wrong(Kind.MACHINE, "it ended with code " + code.get(), image);
    }

    private static Verdict wrong(Kind kind, String what, Path image) {
        return new Verdict(
                kind,
                Optional.of(new Problem(
                        "the project's own program failed: " + what,
                        image.toString(),
                        "",
                        "Correct it; -Dkiln.verify.program=0 excludes it from the verification")));
    }

    private static boolean isAt(ElfFile elf, String function, Stop stop) {
        return address(elf, function).filter(at -> at == stop.address()).isPresent();
    }

    private static Optional<Long> address(ElfFile elf, String function) {
        return elf.symbols().stream()
                .filter(Symbol::isFunction)
                .filter(symbol -> symbol.name().equals(function))
                .map(symbol -> symbol.value() & ~1L)
                .findFirst();
    }

    private static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }

    /** Reads the program's output, because a program would block on a full pipe. */
    private static void drain(RunningProcess process) {
        Thread thread = new Thread(
                () -> {
                    try {
                        process.output().transferTo(OutputStream.nullOutputStream());
                    } catch (IOException e) {
                        // The process was stopped: there is nothing left to read.
                        return;
                    }
                },
                "console-" + process.pid());
        thread.setDaemon(true);
        thread.start();
    }

    private static Path socket() {
        try {
            return Files.createTempDirectory("kiln").resolve("debug");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a folder for QEMU's debug stub", e);
        }
    }

    private static void delete(Path socket) {
        try {
            Files.deleteIfExists(socket);
            Files.deleteIfExists(socket.getParent());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot tidy " + socket, e);
        }
    }
}
