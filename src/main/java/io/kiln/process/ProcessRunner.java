// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.JvmEnd.EndGroup;
import io.kiln.base.KilnException;
import io.kiln.process.RunningProcess.Budget;
import io.kiln.process.RunningProcess.Capture;
import io.kiln.process.RunningProcess.ProcessTree;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
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
        Runnable ended = EndGroup.atEnd(() -> ProcessTree.kill(process), "kill-" + process.pid());
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
                throw Failure.COMPUTER.exception(Budget.message(), command.executable());
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
                            "cannot be started: " + e.getMessage(), command.executable(), "an executable file"),
                    e);
        }
    }

    /** Writes the input, if there is any in a separate thread, so that a process that does not read cannot block its own time limit. */
    private static void feed(Process process, Command command) {
        Runnable feeding = () -> {
            try (OutputStream input = process.getOutputStream()) {
                input.write(command.input().toArray());
            } catch (IOException e) {
                // A process may end, or close its input, without reading all.
                return;
            }
        };
        if (command.input().size() == 0) {
            feeding.run();
            return;
        }
        Thread feeder = new Thread(feeding, "stdin-" + process.pid());
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

    /**
     * Makes processes die with this JVM, however the JVM dies. A shell reads from a pipe that only the JVM holds open which
     * processes have started and which have ended. The pipe closes when the JVM ends: then the shell kills those that are left
     * with their descendants and deletes their temporary folders. There is one shell for all, as shutdown hooks are the JVM's:
     * one for each process would double what starting a process costs. Without a POSIX shell there are only shutdown hooks.
     */
    private static final class Guardian {
        /**
         * The guarding shell script. A line is a sign, a process and its temporary folder or nothing. It ignores signals from the
         * terminal, which are meant for the JVM.
         */
        private static final String SCRIPT = """
            trap '' HUP INT TERM
            running=' '
            while read -r sign process folder; do
              case $sign$running in
                +*) running="$running$process " && eval "temporary_$process=\\$folder" ;;
                *" $process "*)
                  running="${running%%" $process "*} ${running#*" $process "}"
                  unset "temporary_$process" ;;
              esac
            done
            end() {
              for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do end "$child"; done
              kill -9 "$1" 2>/dev/null
            }
            for process in $running; do
              end "$process"
              eval "folder=\\$temporary_$process"
              if [ -n "$folder" ]; then rm -rf -- "$folder"; fi
            done
            """;

        /** What Java encodes the names of files in. */
        private static final Charset FILE_NAMES = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

        private static final Guardian OF_THIS_JVM = new Guardian();

        private Optional<Process> shell = Optional.empty();

        private Guardian() {}

        /** Guards a process that has just started. */
        static void watch(Process process, Optional<Path> temporary) {
            // With a separator at its end, where the shell would drop a blank; a name of two lines is no line.
            String folder = temporary
                    .map(path -> path.toAbsolutePath() + "/")
                    .filter(name -> name.indexOf('\n') < 0)
                    .orElse("");
            OF_THIS_JVM.tell("+ " + process.pid() + " " + folder);
            CompletableFuture<Void> unused = process.onExit().thenRun(() -> OF_THIS_JVM.tell("- " + process.pid()));
        }

        /** Tells the shell, or another if it was killed. */
        private synchronized void tell(String line) {
            if (!isTold(line)) {
                shell = start();
                isTold(line);
            }
        }

        private boolean isTold(String line) {
            try {
                if (shell.isPresent()) {
                    OutputStream pipe = shell.get().getOutputStream();
                    pipe.write((line + "\n").getBytes(FILE_NAMES));
                    pipe.flush();
                }
                return shell.isPresent();
            } catch (IOException e) {
                // The pipe has no reader.
                return false;
            }
        }

        private static Optional<Process> start() {
            return Executables.find("sh").flatMap(found -> {
                CommandLine line = new CommandLine(found.toString());
                line.addArgument("-c", false);
                line.addArgument(SCRIPT, false);
                line.addArgument("kiln-guardian", false);
                try {
                    return Optional.of(CommandLauncherFactory.createVMLauncher().exec(line, System.getenv()));
                } catch (IOException e) {
                    // No more processes can be started: running without a guardian is better than failing.
                    return Optional.empty();
                }
            });
        }
    }

    /**
     * A log of limited size with two writers; bytes beyond the limit, or after closing, are dropped. So are bytes after the
     * disk is full, because a process whose output is no longer read would block, and its message about the full disk would
     * be lost.
     */
    static final class SharedLog extends OutputStream {
        /** Limit in bytes; a log that reaches it ends with a line that says so. */
        static final int MOST = 16 << 20;

        private static final byte[] CUT =
                ("\n[cut here, after " + (MOST >> 20) + " MiB]\n").getBytes(StandardCharsets.US_ASCII);

        private final OutputStream target;
        private long left = MOST;
        private boolean ended;

        SharedLog(OutputStream target) {
            this.target = target;
        }

        @Override
        public synchronized void write(int value) {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public synchronized void write(byte[] block, int offset, int length) {
            if (ended || left == 0) {
                return;
            }
            try {
                int taken = (int) Math.min(left, length);
                target.write(block, offset, taken);
                left -= taken;
                if (left == 0) {
                    target.write(CUT);
                }
            } catch (IOException e) {
                ended = true;
            }
        }

        @Override
        public synchronized void flush() {
            try {
                if (!ended) {
                    target.flush();
                }
            } catch (IOException e) {
                ended = true;
            }
        }

        @Override
        public synchronized void close() {
            try {
                ended = true;
                target.close();
            } catch (IOException e) {
                // The bytes are lost, as those of a failed write are.
                return;
            }
        }
    }

    /**
     * The result of a process.
     *
     * @param exitCode its exit code; 128 plus the signal if it was killed, as the JVM reports it
     * @param timedOut whether it was killed at its time limit
     * @param output standard output as UTF-8, cut after {@link ProcessRunner#CAPTURE_LIMIT} bytes
     * @param errors standard error, likewise
     * @param elapsed wall time
     */
    public record ProcessResult(int exitCode, boolean timedOut, String output, String errors, Duration elapsed) {
        /** Whether it ended by itself with exit code 0. */
        public boolean succeeded() {
            return exitCode == 0 && !timedOut;
        }

        /** Standard error followed by standard output, trimmed: the tool's message. */
        public String message() {
            return (errors + output).strip();
        }
    }

    /** Looks for executables, as a shell would. */
    public static final class Executables {
        private static final List<String> SUFFIXES =
                System.getProperty("os.name", "").startsWith("Windows") ? List.of(".exe", "") : List.of("");

        private Executables() {}

        /** The first executable of this name on the PATH. */
        public static Optional<Path> find(String name) {
            return folders().stream()
                    .flatMap(folder -> folder(folder).stream())
                    .flatMap(folder -> findIn(folder, name).stream())
                    .findFirst();
        }

        /** An executable of this name in one folder. */
        public static Optional<Path> findIn(Path folder, String name) {
            return SUFFIXES.stream()
                    .map(suffix -> folder.resolve(name + suffix))
                    .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                    .findFirst();
        }

        /** Where {@link #find} looks for an executable, as far as to the one that it finds; the others need not exist. */
        public static List<Path> places(String name) {
            Optional<Path> found = find(name);
            List<Path> places = new ArrayList<>();
            for (String text : folders()) {
                for (String suffix : SUFFIXES) {
                    folder(text).map(folder -> folder.resolve(name + suffix)).ifPresent(places::add);
                    if (found.isPresent() && places.contains(found.get())) {
                        return places;
                    }
                }
            }
            return places;
        }

        private static List<String> folders() {
            String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
            return Stream.of(path.split(Pattern.quote(File.pathSeparator)))
                    .filter(folder -> !folder.isBlank())
                    .toList();
        }

        private static Optional<Path> folder(String text) {
            try {
                return Optional.of(Path.of(text));
            } catch (InvalidPathException e) {
                return Optional.empty();
            }
        }
    }
}
