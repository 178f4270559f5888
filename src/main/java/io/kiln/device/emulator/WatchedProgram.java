// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.device.fault.StackUse;
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
import io.kiln.process.RunningProcess;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A program of the user's own in QEMU, whose time is the machine's: an instruction takes eight nanoseconds, and a machine that waits waits
 * as long as this computer. On this computer time is the computer's. Closing it ends the program.
 */
public final class WatchedProgram implements AutoCloseable {
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
