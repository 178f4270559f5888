// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import io.kiln.base.Bytes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * A command to start, without a shell: arguments are passed unchanged.
 *
 * @param executable a path, or a name to be found on the PATH
 * @param arguments its arguments
 * @param directory working directory; must exist
 * @param environment variables added to (or replacing) those of this process
 * @param without variables of this process that the new one does not inherit
 * @param timeout time after which the process and its descendants are killed
 * @param input its standard input; ignored by {@link ProcessRunner#start}
 * @param logFile gets the first 16 MiB of standard output and error, interleaved; replaced if it exists
 * @param temporary the process's own folder, which is deleted if this JVM ends before the process does, and by {@link
 *     RunningProcess#close}
 */
public record Command(
        String executable,
        List<String> arguments,
        Path directory,
        Map<String, String> environment,
        Set<String> without,
        Duration timeout,
        Bytes input,
        Optional<Path> logFile,
        Optional<Path> temporary) {
    private static final Duration DEFAULT_TIMEOUT = Duration.ofMinutes(5);

    public Command {
        arguments = List.copyOf(arguments);
        environment = Map.copyOf(environment);
        without = Set.copyOf(without);
    }

    /** A command in the current directory, with a limit of five minutes and empty input. */
    public static Command of(String executable, String... arguments) {
        return of(executable, List.of(arguments));
    }

    /** As {@link #of(String, String...)}. */
    public static Command of(String executable, List<String> arguments) {
        return new Command(
                executable,
                arguments,
                Path.of("").toAbsolutePath(),
                Map.of(),
                Set.of(),
                DEFAULT_TIMEOUT,
                Bytes.wrap(new byte[0]),
                Optional.empty(),
                Optional.empty());
    }

    /** A command from a whole line, executable first. */
    public static Command ofLine(List<String> line) {
        return of(line.get(0), line.subList(1, line.size()));
    }

    public Command in(Path newDirectory) {
        return new Command(
                executable, arguments, newDirectory, environment, without, timeout, input, logFile, temporary);
    }

    public Command within(Duration newTimeout) {
        return new Command(
                executable, arguments, directory, environment, without, newTimeout, input, logFile, temporary);
    }

    public Command reading(Bytes newInput) {
        return new Command(
                executable, arguments, directory, environment, without, timeout, newInput, logFile, temporary);
    }

    public Command loggingTo(Path file) {
        return new Command(
                executable, arguments, directory, environment, without, timeout, input, Optional.of(file), temporary);
    }

    public Command owning(Path folder) {
        return new Command(
                executable, arguments, directory, environment, without, timeout, input, logFile, Optional.of(folder));
    }

    public Command with(String variable, String value) {
        Map<String, String> more = new TreeMap<>(environment);
        more.put(variable, value);
        return new Command(executable, arguments, directory, more, without, timeout, input, logFile, temporary);
    }

    public Command without(Set<String> variables) {
        return new Command(
                executable, arguments, directory, environment, variables, timeout, input, logFile, temporary);
    }

    /** Executable and arguments. */
    public List<String> line() {
        List<String> line = new ArrayList<>();
        line.add(executable);
        line.addAll(arguments);
        return List.copyOf(line);
    }

    /** The line for people, quoted for a POSIX shell. */
    public String text() {
        return ShellWords.join(line());
    }
}
