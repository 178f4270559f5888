// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.commons.exec.CommandLine;
import org.apache.commons.exec.launcher.CommandLauncherFactory;

/** Runs commands through Commons Exec. Processes die with this JVM, even if the JVM is killed. Stateless. */
public final class ProcessRunner {
    /** Bytes of each output stream kept in memory; the log file gets more. */
    public static final int CAPTURE_LIMIT = 4 << 20;

    private static final long DRAIN_MILLIS = 2000;

    private ProcessRunner() {}

    /**
     * Runs a command to its end or its time limit. A non-zero exit code is a result, not an error.
     *
     * @throws KilnException if it cannot be started, prints more than 64 MiB, or if this thread is interrupted; the
     * process has ended in each case
     */
    public static ProcessResult run(Command command) {
        return run(command, line -> {});
    }

    /** Runs a command as {@link #run(Command)} does, and passes each line of its standard error on while it runs, from another thread. */
    public static ProcessResult run(Command command, Consumer<String> errorLines) {
        long start = System.nanoTime();
        Process process = launch(command);
        Runnable ended = OwnedProcesses.endOf(process);
        try (OutputStream log = openLog(command)) {
            Budget budget = new Budget(process);
            Capture output = Capture.of("stdout-" + process.pid(), process.getInputStream(), log, budget);
            Capture errors = Capture.of("stderr-" + process.pid(), process.getErrorStream(), log, budget, errorLines);
            feed(process, command);
            boolean timedOut = !process.waitFor(command.timeout().toMillis(), TimeUnit.MILLISECONDS);
            ProcessTree.kill(process);
            int exitCode = process.waitFor();
            output.await(DRAIN_MILLIS);
            errors.await(DRAIN_MILLIS);
            if (budget.isSpent()) {
                throw new KilnException(Failure.COMPUTER.problem(Budget.message(), command.executable()));
            }
            Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
            return new ProcessResult(exitCode, timedOut, output.text(), errors.text(), elapsed);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted(command.executable(), e);
        } catch (IOException e) {
            throw FileFailure.of(
                    "cannot write the log of " + command.executable(),
                    command.logFile().orElse(Path.of("")),
                    e);
        } finally {
            ProcessTree.kill(process);
            ended.run();
        }
    }

    /**
     * Starts a command and returns at once. The caller reads and writes its streams and closes it.
     *
     * @throws KilnException if it cannot be started
     */
    public static RunningProcess start(Command command) {
        return start(command, line -> false);
    }

    /**
     * Starts a command that reports on its standard error, otherwise as {@link #start(Command)} does.
     *
     * @param takes gets each line of standard error as it comes, from another thread, and returns whether it is a report: these may be
     *     any number, and are neither kept nor logged
     */
    public static RunningProcess start(Command command, Predicate<String> takes) {
        OutputStream log = openLog(command);
        return new RunningProcess(launch(command), command, log, takes);
    }

    static KilnException interrupted(String executable, InterruptedException cause) {
        return new KilnException(
                Failure.COMPUTER.problem("the build was interrupted while it ran; it was stopped", executable), cause);
    }

    private static Process launch(Command command) {
        CommandLine line = new CommandLine(command.executable());
        command.arguments().forEach(argument -> line.addArgument(argument, false));
        Map<String, String> environment = new TreeMap<>(System.getenv());
        environment.keySet().removeAll(command.without());
        environment.putAll(command.environment());
        try {
            Process process = CommandLauncherFactory.createVMLauncher().exec(line, environment, command.directory());
            Guardian.watch(process, command.temporary());
            return process;
        } catch (IOException e) {
            throw new KilnException(
                    Failure.TOOL.problem(
                            "cannot be started: " + e.getMessage(), command.executable(), "an executable file", ""),
                    e);
        }
    }

    /** Writes the input in a separate thread, so that a process that does not read cannot block its own time limit. */
    private static void feed(Process process, Command command) {
        Thread feeder = new Thread(
                () -> {
                    try (OutputStream input = process.getOutputStream()) {
                        input.write(command.input().toArray());
                    } catch (IOException e) {
                        // A process may end, or close its input, without reading all.
                        return;
                    }
                },
                "stdin-" + process.pid());
        feeder.setDaemon(true);
        feeder.start();
    }

    private static OutputStream openLog(Command command) {
        if (command.logFile().isEmpty()) {
            return OutputStream.nullOutputStream();
        }
        Path file = command.logFile().get();
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            return new SharedLog(Files.newOutputStream(file));
        } catch (IOException e) {
            throw FileFailure.of("cannot write", file, e);
        }
    }
}
