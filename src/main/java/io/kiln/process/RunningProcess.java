// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import io.kiln.base.JvmEnd.EndGroup;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A running process with open streams: an emulator's console, a program on the host. Closing it kills it and its
 * descendants; so do its time limit and the end of the JVM.
 */
public final class RunningProcess implements AutoCloseable {
    private static final long DRAIN_MILLIS = 2000;

    private final Process process;
    private final OutputStream log;
    private final InputStream output;
    private final Capture errors;
    private final Budget budget;
    private final Optional<Path> temporary;
    private final Runnable ended;
    private final CompletableFuture<Void> timer;
    private final CompletableFuture<Void> expiry;
    private final AtomicBoolean timedOut = new AtomicBoolean();
    private final AtomicBoolean closed = new AtomicBoolean();

    RunningProcess(Process process, Command command, OutputStream log, Predicate<String> takes) {
        this.process = process;
        this.log = log;
        this.temporary = command.temporary();
        this.budget = new Budget(process);
        this.output = new Teeing(process.getInputStream(), log);
        this.errors =
                Capture.of("stderr-" + process.pid(), new LineSieve(process.getErrorStream(), takes), log, budget);
        this.ended = EndGroup.atEnd(() -> ProcessTree.kill(process), "kill-" + process.pid());
        long millis = command.timeout().toMillis();
        this.timer = new CompletableFuture<Void>().completeOnTimeout(null, millis, TimeUnit.MILLISECONDS);
        // In a separate thread: those of the common pool may all be waiting for the process.
        this.expiry = timer.thenRunAsync(this::expire, task -> new Thread(task, "expire-" + process.pid()).start());
    }

    private void expire() {
        if (process.isAlive()) {
            timedOut.set(true);
            ProcessTree.kill(process);
        }
    }

    /** The process's output; each byte read is also written to the log file. Ends with the process. */
    public InputStream output() {
        return output;
    }

    /** The process's input. Flush after writing. */
    public OutputStream input() {
        return process.getOutputStream();
    }

    /** Standard error so far, truncated after {@link ProcessRunner#CAPTURE_LIMIT} bytes. */
    public String errors() {
        return errors.text();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Whether it was killed because it printed too many errors. */
    public boolean flooded() {
        return budget.isSpent();
    }

    /** Whether it was killed by {@link #close}, if it had not ended before. */
    public boolean isClosed() {
        return closed.get();
    }

    /** Whether it was killed at its time limit. */
    public boolean timedOut() {
        return timedOut.get();
    }

    public long pid() {
        return process.pid();
    }

    /** The exit code, if it ends within the time; standard error is complete then. */
    public Optional<Integer> waitFor(Duration time) {
        try {
            if (!process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS)) {
                return Optional.empty();
            }
            errors.await(DRAIN_MILLIS);
            return Optional.of(process.exitValue());
        } catch (InterruptedException e) {
            close();
            Thread.currentThread().interrupt();
            throw ProcessRunner.interrupted(process.info().command().orElse("a process"), e);
        }
    }

    /** Kills the process and its descendants if they still run; returns when they have ended. Idempotent. */
    @Override
    public void close() {
        closed.set(true);
        timer.cancel(false);
        expiry.cancel(false);
        ProcessTree.kill(process);
        temporary.ifPresent(RunningProcess::remove);
        ended.run();
        closeLog();
    }

    private static void remove(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException e) {
            // Already removed.
            return;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + folder, e);
        }
    }

    private void closeLog() {
        try {
            errors.await(DRAIN_MILLIS);
            log.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // The log is only a help for people; a failure at its end must not fail a finished run.
            return;
        }
    }

    /** Copies the bytes that are read to another stream. */
    private static final class Teeing extends FilterInputStream {
        private final OutputStream copy;

        Teeing(InputStream source, OutputStream copy) {
            super(source);
            this.copy = copy;
        }

        @Override
        public int read() throws IOException {
            int value = super.read();
            if (value >= 0) {
                copy.write(value);
            }
            return value;
        }

        @Override
        public int read(byte[] block, int offset, int length) throws IOException {
            int n = super.read(block, offset, length);
            if (n > 0) {
                copy.write(block, offset, n);
            }
            return n;
        }
    }

    /** A stream without the lines that a predicate takes out as they come. Not thread-safe. */
    static final class LineSieve extends InputStream {
        /** Most bytes of a line; a longer one is passed on in parts. */
        private static final int LONGEST_LINE = 64 << 10;

        private static final int BUFFER = 1 << 16;

        private final InputStream source;
        private final Predicate<String> takes;
        private final ByteArrayOutputStream line = new ByteArrayOutputStream();
        private final byte[] chunk = new byte[BUFFER];
        private int next;
        private int end;
        private byte[] passed = {};
        private int position;

        /**
         * Filters a stream line by line.
         *
         * @param source lines of UTF-8
         * @param takes gets each line without its end, and returns whether it is taken out
         */
        LineSieve(InputStream source, Predicate<String> takes) {
            this.source = source;
            this.takes = takes;
        }

        @Override
        public int read() throws IOException {
            return fill() ? passed[position++] & 0xFF : -1;
        }

        @Override
        public int read(byte[] block, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (!fill()) {
                return -1;
            }
            int n = Math.min(length, passed.length - position);
            System.arraycopy(passed, position, block, offset, n);
            position += n;
            return n;
        }

        /** Reads on until a line is passed on. */
        private boolean fill() throws IOException {
            while (position == passed.length) {
                boolean whole = nextLine();
                if (line.size() == 0 && !whole) {
                    return false;
                }
                boolean taken = whole
                        && takes.test(line.toString(StandardCharsets.UTF_8).stripTrailing());
                passed = taken ? new byte[] {} : line.toByteArray();
                position = 0;
                line.reset();
            }
            return true;
        }

        /** Whether the line has an end. */
        private boolean nextLine() throws IOException {
            while (line.size() < LONGEST_LINE) {
                if (next == end) {
                    next = 0;
                    end = Math.max(0, source.read(chunk));
                    if (end == 0) {
                        return false;
                    }
                }
                int begin = next;
                int limit = Math.min(end, begin + LONGEST_LINE - line.size());
                while (next < limit && chunk[next] != '\n') {
                    next++;
                }
                boolean whole = next < limit;
                next += whole ? 1 : 0;
                line.write(chunk, begin, next - begin);
                if (whole) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public void close() throws IOException {
            source.close();
        }
    }

    /** Drains a stream in a separate thread: the first bytes into memory, all bytes into the log; all count for the budget. */
    static final class Capture {
        /** Most bytes of a line that is passed on; the rest of a longer one is not. */
        private static final int LONGEST_LINE = 64 << 10;

        private final OutputStream log;
        private final Budget budget;
        private final Optional<Consumer<String>> lines;
        private final ByteArrayOutputStream line = new ByteArrayOutputStream();
        private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
        private final Thread thread;

        private Capture(
                String name, InputStream source, OutputStream log, Budget budget, Optional<Consumer<String>> lines) {
            this.log = log;
            this.budget = budget;
            this.lines = lines;
            this.thread = new Thread(() -> drain(source), name);
            thread.setDaemon(true);
        }

        /** Starts draining at once. The log must tolerate several writers. */
        static Capture of(String name, InputStream source, OutputStream log, Budget budget) {
            return started(new Capture(name, source, log, budget, Optional.empty()));
        }

        /** Starts draining, and passes each line on without its line end as soon as it is complete. The log must tolerate several writers. */
        static Capture of(String name, InputStream source, OutputStream log, Budget budget, Consumer<String> lines) {
            return started(new Capture(name, source, log, budget, Optional.of(lines)));
        }

        private static Capture started(Capture capture) {
            capture.thread.start();
            return capture;
        }

        private void drain(InputStream source) {
            byte[] block = new byte[8192];
            try (source) {
                for (int n = source.read(block); n >= 0; n = source.read(block)) {
                    keep(block, n);
                    log.write(block, 0, n);
                    log.flush();
                    if (lines.isPresent()) {
                        passOn(block, n, lines.get());
                    }
                    budget.spend(n);
                }
            } catch (IOException e) {
                // The process was killed or its stream closed: the rest is lost.
                return;
            }
        }

        private void passOn(byte[] block, int n, Consumer<String> listener) {
            for (int i = 0; i < n; i++) {
                if (block[i] == '\n') {
                    listener.accept(line.toString(StandardCharsets.UTF_8));
                    line.reset();
                } else if (line.size() < LONGEST_LINE) {
                    line.write(block[i]);
                }
            }
        }

        private synchronized void keep(byte[] block, int n) {
            kept.write(block, 0, Math.min(n, ProcessRunner.CAPTURE_LIMIT - kept.size()));
        }

        /** Waits for the end of the stream, with a time limit. */
        void await(long millis) throws InterruptedException {
            thread.join(millis);
        }

        /** The text kept so far. */
        synchronized String text() {
            return kept.toString(StandardCharsets.UTF_8);
        }
    }

    /** Kills a process together with its descendants. */
    static final class ProcessTree {
        private static final int ROUNDS = 3;
        private static final long SECONDS_TO_DIE = 5;

        private ProcessTree() {}

        /**
         * Kills the process and its descendants, and waits until they have ended. It does not ask them to terminate,
         * because some tools ignore that (OpenOCD while it programs). Several rounds catch processes started during the
         * first one. Nothing is looked for under a process that has ended: its children have another parent by then, and
         * each look reads the state of all of the computer's processes.
         */
        static void kill(Process root) {
            List<ProcessHandle> seen = root.isAlive() ? tree(root.toHandle()) : List.of();
            for (int round = 0; round < ROUNDS && !seen.isEmpty(); round++) {
                seen.forEach(ProcessHandle::destroyForcibly);
                await(seen);
                seen = Stream.concat(seen.stream(), seen.stream().flatMap(ProcessHandle::descendants))
                        .distinct()
                        .filter(ProcessHandle::isAlive)
                        .toList();
            }
        }

        private static List<ProcessHandle> tree(ProcessHandle root) {
            return Stream.concat(Stream.of(root), root.descendants())
                    .filter(ProcessHandle::isAlive)
                    .toList();
        }

        private static void await(List<ProcessHandle> handles) {
            CompletableFuture<?> gone = CompletableFuture.allOf(
                    handles.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new));
            try {
                gone.get(SECONDS_TO_DIE, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException | TimeoutException e) {
                // The next round tries again; a process stuck in the kernel cannot be killed from here.
                return;
            }
        }
    }

    /** Limit of a process's output in bytes. A process that prints more is killed. */
    static final class Budget {
        /** Limit for both output streams together. */
        static final int MOST_OUTPUT = 64 << 20;

        private final AtomicLong left = new AtomicLong(MOST_OUTPUT);
        private final AtomicBoolean spent = new AtomicBoolean();
        private final Process process;

        Budget(Process process) {
            this.process = process;
        }

        /** Subtracts bytes; kills the process when none are left. */
        void spend(int bytes) {
            if (left.addAndGet(-bytes) < 0 && spent.compareAndSet(false, true)) {
                ProcessTree.kill(process);
            }
        }

        /** Whether the process was killed. */
        boolean isSpent() {
            return spent.get();
        }

        static String message() {
            return "it printed more than " + (MOST_OUTPUT >> 20) + " MiB and was stopped";
        }
    }
}
