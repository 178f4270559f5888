// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.device.emulator.DebugStub.Architecture;
import io.kiln.device.emulator.DebugStub.Stop;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.fault.StackUse;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Emulation;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Checks that the user's own program runs with the runtime, by breakpoints on the functions in which it ends when
 * something fails. The program is the unchanged image that will be flashed; it need not answer the host and may run
 * forever. The time for which it is watched is the machine's own, so that a busy computer does not shorten it.
 *
 * @param emulator the board, and the time to watch
 */
public record ProgramWatch(Emulator emulator) {
    private static final String ABORT = "TVMPlatformAbort";
    private static final String MEMORY = "StackMemoryManager_Init";
    private static final String EXIT = "kiln_board_exit";
    private static final Duration TO_CONNECT = Duration.ofSeconds(60);
    private static final int FAULT_EXIT = 70;
    private static final int BLOCK = 4096;
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
     * @param stack the deepest use of its stack, if that is known
     */
    public record Verdict(Kind kind, Optional<Problem> problem, Optional<StackUse> stack) {}

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
            drain(process, text -> {});
            return ended(process, image);
        }
    }

    private Verdict inQemu(Path image) {
        ElfFile elf = ElfFile.read(image);
        Path folder = InstructionCounter.temporaryFolder();
        Path debug = folder.resolve(InstructionCounter.DEBUG);
        Path monitor = folder.resolve(InstructionCounter.MONITOR);
        List<String> arguments = new ArrayList<>(Emulator.watched(monitor));
        arguments.addAll(List.of("-S", "-gdb", "unix:" + debug + ",server=on,wait=off"));
        FaultWatch faults = new FaultWatch(text -> {});
        try (RunningProcess process = emulator.patient().start(image, arguments, folder)) {
            drain(process, faults);
            try (MachineMonitor machine = MachineMonitor.connect(monitor, TO_CONNECT);
                    DebugStub stub = DebugStub.connect(debug, Architecture.of(elf), TO_CONNECT)) {
                for (String function : List.of(ABORT, MEMORY, EXIT)) {
                    address(elf, function).ifPresent(stub::stopAt);
                }
                TimeOver time = new TimeOver(elf, machine, process, emulator.limit());
                try {
                    return follow(stub, elf, image, time, faults);
                } catch (KilnException e) {
                    if (time.isOver()) {
                        return fine(time.stack());
                    }
                    throw e;
                } finally {
                    time.end();
                }
            } catch (KilnException e) {
                // The stub's connection ends with QEMU: only the reason of QEMU's end matters.
                if (process.waitFor(TO_END).isEmpty()) {
                    throw emulator.explained(e, image, process);
                }
                return ended(process, image);
            }
        }
    }

    private static Verdict follow(DebugStub stub, ElfFile elf, Path image, TimeOver time, FaultWatch faults) {
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
            if (isAt(elf, EXIT, stop)) {
                return exited(stop, time.end(), faults, image);
            }
        }
    }

    /** The verdict on a program that has ended: a fault's line was sent before, an overflow of the stack fails on any machine. */
    private static Verdict exited(Stop stop, Optional<StackUse> stack, FaultWatch faults, Path image) {
        Optional<Problem> overflow = stack.flatMap(StackUse::problem);
        if (stop.result() == FAULT_EXIT) {
            Optional<Problem> fault = faults.awaited(image, TO_END);
            String what = "it stopped with a fault"
                    + fault.map(problem -> ": " + problem.text()).orElse("");
            return wrong(fault.filter(StackUse::isOverflow).isPresent() ? Kind.RUNTIME : Kind.MACHINE, what, image);
        }
        if (overflow.isPresent()) {
            return new Verdict(Kind.RUNTIME, Optional.of(failure(overflow.get().text(), image)), stack);
        }
        return stop.result() == 0
                ? fine(stack)
                : wrong(Kind.MACHINE, "it ended with code " + (int) stop.result(), image);
    }

    private static Verdict fine(Optional<StackUse> stack) {
        return new Verdict(Kind.FINE, Optional.empty(), stack);
    }

    private Verdict ended(RunningProcess process, Path image) {
        Optional<Integer> code = process.waitFor(emulator.limit().plus(TO_END));
        return process.timedOut() || code.isEmpty() || code.get() == 0
                ? fine(Optional.empty())
                : wrong(Kind.MACHINE, "it ended with code " + code.get(), image);
    }

    private static Verdict wrong(Kind kind, String what, Path image) {
        return new Verdict(kind, Optional.of(failure(what, image)), Optional.empty());
    }

    private static Problem failure(String what, Path image) {
        return Failure.RUN.problem(
                "the project's own program failed: " + what,
                image.toString(),
                "",
                "Correct it; -Dkiln.verify.program=0 excludes it from the verification");
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
    private static void drain(RunningProcess process, Consumer<String> text) {
        Thread thread = new Thread(
                () -> {
                    try (Reader in = new InputStreamReader(process.output(), StandardCharsets.ISO_8859_1)) {
                        char[] block = new char[BLOCK];
                        for (int n = in.read(block); n >= 0; n = in.read(block)) {
                            text.accept(new String(block, 0, n));
                        }
                    } catch (IOException e) {
                        // The process was stopped: there is nothing left to read.
                        return;
                    }
                },
                "console-" + process.pid());
        thread.setDaemon(true);
        thread.start();
    }

    /** Ends a machine when a time of its own has passed, and measures its stack before. A thread of its own looks at the clock. */
    static final class TimeOver {
        private static final long BETWEEN_LOOKS = 100;

        private final ElfFile elf;
        private final MachineMonitor monitor;
        private final RunningProcess process;
        private final long limit;
        private boolean ended;
        private boolean over;
        private Optional<StackUse> stack = Optional.empty();

        /**
         * Begins to look.
         *
         * @param monitor asked by this only, from now on
         * @param process the machine's
         */
        TimeOver(ElfFile elf, MachineMonitor monitor, RunningProcess process, Duration limit) {
            this.elf = elf;
            this.monitor = monitor;
            this.process = process;
            this.limit = limit.toNanos();
            Thread thread = new Thread(this::look, "machine-clock");
            thread.setDaemon(true);
            thread.start();
        }

        private void look() {
            EmulatedClock clock = new EmulatedClock(monitor);
            try {
                while (!hasEnded(clock)) {
                    Thread.sleep(BETWEEN_LOOKS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private synchronized boolean hasEnded(EmulatedClock clock) {
            if (!ended && clock.elapsed() >= limit) {
                measure();
                over = true;
                process.close();
            }
            return ended;
        }

        private void measure() {
            ended = true;
            stack = WatchedProgram.measured(elf, monitor);
        }

        /** Stops looking, while the machine has stopped or has ended; the deepest use of its stack, if that can be known. */
        synchronized Optional<StackUse> end() {
            if (!ended) {
                measure();
            }
            return stack;
        }

        synchronized boolean isOver() {
            return over;
        }

        /** The deepest use of the stack, once it was measured. */
        synchronized Optional<StackUse> stack() {
            return stack;
        }
    }
}
