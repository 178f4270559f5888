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
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
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
import java.util.OptionalLong;
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

    /**
     * The time that has passed in a machine, by QEMU's own clock, so that a busy computer takes nothing of it. A machine that sleeps with no
     * timer running has no time of its own: for it, this computer's counts. Not thread-safe.
     */
    static final class EmulatedClock {
        private final MachineMonitor monitor;
        private long elapsed;
        private long wall = System.nanoTime();
        private long lag;
        private long executed = -1;
        private boolean isLost;

        /**
         * @param monitor of a QEMU that counts instructions ({@code -icount})
         */
        EmulatedClock(MachineMonitor monitor) {
            this.monitor = monitor;
        }

        /** Nanoseconds since the start, as of now. */
        long elapsed() {
            long now = System.nanoTime();
            long passed = now - wall;
            wall = now;
            elapsed += isLost ? passed : passedInside(passed);
            return elapsed;
        }

        /** The part of some time of this computer that passed in the machine, or a multiple of it. */
        private long passedInside(long passed) {
            try {
                OptionalLong behind = monitor.lagMillis();
                if (behind.isEmpty()) {
                    isLost = true;
                    return passed;
                }
                long now = 1_000_000 * behind.getAsLong();
                long inside = Math.max(0, passed - (now - lag));
                lag = now;
                long count = monitor.instructions();
                boolean sleeps = count == executed;
                executed = count;
                return sleeps ? Math.max(inside, passed) : inside;
            } catch (KilnException e) {
                // QEMU ended: its output ends, too.
                isLost = true;
                return passed;
            }
        }
    }

    /**
     * A program of the user's own in QEMU, whose time is the machine's: an instruction takes eight nanoseconds, and a machine that waits waits
     * as long as this computer. On this computer time is the computer's. Closing it ends the program.
     */
    public static final class WatchedProgram implements AutoCloseable {
        private final Path image;
        private final RunningProcess process;
        private final TimedBytes output;
        private final Optional<MachineMonitor> monitor;

        private WatchedProgram(Path image, RunningProcess process, Optional<MachineMonitor> monitor) {
            this.image = image;
            this.process = process;
            this.monitor = monitor;
            TimedInput bytes = new TimedInput(process.output());
            this.output = monitor.isPresent() ? new EmulatedInput(bytes, new EmulatedClock(monitor.get())) : bytes;
        }

        static WatchedProgram onThisComputer(Path image, RunningProcess process) {
            return new WatchedProgram(image, process, Optional.empty());
        }

        /**
         * @param process QEMU, with its monitor at a socket
         */
        static WatchedProgram inQemu(Path image, RunningProcess process, Path socket) {
            try {
                return new WatchedProgram(
                        image, process, Optional.of(MachineMonitor.connect(socket, InstructionCounter.TO_CONNECT)));
            } catch (KilnException e) {
                // QEMU ended at once: its output, which ends, and its exit code tell why.
                return new WatchedProgram(image, process, Optional.empty());
            }
        }

        public RunningProcess process() {
            return process;
        }

        /** What it prints; its clock begins with the machine. Closing it leaves the program running. */
        public TimedBytes output() {
            return output;
        }

        /**
         * The deepest use of its stack so far.
         *
         * @param reported what it said of it when it ended
         * @return empty if it did not say, and its memory does not tell
         */
        public Optional<StackUse> stackUse(OptionalLong reported) {
            return reported.isPresent() || monitor.isEmpty()
                    ? StackUse.of(image, reported)
                    : measured(ElfFile.read(image), monitor.get());
        }

        /** The use of the stack by the memory of a running machine. */
        static Optional<StackUse> measured(ElfFile elf, MachineMonitor monitor) {
            try {
                return StackUse.measured(elf, monitor::words);
            } catch (KilnException e) {
                // QEMU ended meanwhile.
                return Optional.empty();
            }
        }

        @Override
        public void close() {
            process.close();
            output.close();
            monitor.ifPresent(MachineMonitor::close);
        }

        /**
         * The output of a machine, with deadlines by its own clock. A machine that prints while nobody reads may wait, and then nobody can ask for its
         * time. So a thread of its own looks at the clock several times a second, and after the last reading another one reads what no one wants.
         */
        private static final class EmulatedInput implements TimedBytes {
            private static final long BETWEEN_LOOKS = 200;
            private static final long A_LITTLE = 20_000_000;

            private final TimedInput bytes;
            private final EmulatedClock clock;
            private volatile long time;
            private volatile boolean closed;

            EmulatedInput(TimedInput bytes, EmulatedClock clock) {
                this.bytes = bytes;
                this.clock = clock;
                start(this::look, "machine-clock");
            }

            private static void start(Runnable loop, String name) {
                Thread thread = new Thread(loop, name);
                thread.setDaemon(true);
                thread.start();
            }

            private void look() {
                try {
                    while (!closed) {
                        time = clock.elapsed();
                        Thread.sleep(BETWEEN_LOOKS);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }

            /** Reads a byte before a deadline. Bytes that have come already are in time: the clock was looked at when they had. */
            @Override
            public int read(long deadline) {
                while (true) {
                    boolean isOver = time - deadline >= 0;
                    int value = bytes.read(System.nanoTime() + (isOver ? 0 : A_LITTLE));
                    if (value != LATE || isOver) {
                        return value;
                    }
                }
            }

            @Override
            public long now() {
                return time;
            }

            @Override
            public void close() {
                if (!closed) {
                    closed = true;
                    start(this::discard, "console-rest");
                }
            }

            /** Reads and drops bytes until the machine ends, which others see to. */
            private void discard() {
                int value = LATE;
                while (value != END) {
                    value = bytes.read(System.nanoTime() + 1_000_000 * BETWEEN_LOOKS);
                }
            }
        }
    }
}
