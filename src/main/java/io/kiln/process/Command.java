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
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A command to start, without a shell: arguments are passed unchanged.
 *
 * @param executable a path, or a name to be found on the PATH
 * @param surroundings where it runs, and what it sees
 * @param timeout after this the process and its descendants are killed
 * @param input what it reads from its standard input; ignored by {@link ProcessRunner#start}
 * @param logFile gets the first 16 MiB of the output, standard output and error as they come; replaced if it exists
 * @param temporary a folder of the process's own, which is removed if this JVM ends before the process does, and by
 *     {@link RunningProcess#close}
 */
public record Command(
        String executable,
        List<String> arguments,
        Surroundings surroundings,
        Duration timeout,
        Bytes input,
        Optional<Path> logFile,
        Optional<Path> temporary) {
    private static final Duration DEFAULT_TIMEOUT = Duration.ofMinutes(5);

    /** Makes programs answer as in every other country: what they print is read, or becomes part of a file. */
    private static final Map<String, String> LANGUAGE = Map.of("LC_ALL", "C");

    public Command {
        arguments = List.copyOf(arguments);
    }

    /**
     * Where a process runs, and what it sees.
     *
     * @param directory working directory; must exist
     * @param environment variables added to (or replacing) those of this process
     * @param without variables of this process that the new one shall not see
     */
    public record Surroundings(Path directory, Map<String, String> environment, Set<String> without) {
        public Surroundings {
            environment = Map.copyOf(environment);
            without = Set.copyOf(without);
        }
    }

    /** Working directory. */
    public Path directory() {
        return surroundings.directory;
    }

    /** Variables added to (or replacing) those of this process. */
    public Map<String, String> environment() {
        return surroundings.environment;
    }

    /** Variables of this process that the new one shall not see. */
    public Set<String> without() {
        return surroundings.without;
    }

    /** A command in the current directory and the language C, with a limit of five minutes and empty input. */
    public static Command of(String executable, String... arguments) {
        return of(executable, List.of(arguments));
    }

    /** As {@link #of(String, String...)}. */
    public static Command of(String executable, List<String> arguments) {
        return new Command(
                executable,
                arguments,
                new Surroundings(Path.of("").toAbsolutePath(), LANGUAGE, Set.of()),
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
        return in(new Surroundings(newDirectory, environment(), without()));
    }

    public Command within(Duration newTimeout) {
        return new Command(executable, arguments, surroundings, newTimeout, input, logFile, temporary);
    }

    public Command reading(Bytes newInput) {
        return new Command(executable, arguments, surroundings, timeout, newInput, logFile, temporary);
    }

    public Command loggingTo(Path file) {
        return new Command(executable, arguments, surroundings, timeout, input, Optional.of(file), temporary);
    }

    public Command owning(Path folder) {
        return new Command(executable, arguments, surroundings, timeout, input, logFile, Optional.of(folder));
    }

    public Command with(String variable, String value) {
        Map<String, String> more = new TreeMap<>(environment());
        more.put(variable, value);
        return in(new Surroundings(directory(), more, without()));
    }

    public Command without(Set<String> variables) {
        return in(new Surroundings(directory(), environment(), variables));
    }

    private Command in(Surroundings others) {
        return new Command(executable, arguments, others, timeout, input, logFile, temporary);
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

    /** Formats argument lists for a POSIX shell: for logs and makefiles, never for running. */
    public static final class ShellWords {
        private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

        private ShellWords() {}

        /** All words, quoted where needed, separated by blanks. */
        public static String join(List<String> words) {
            return words.stream().map(ShellWords::quote).collect(Collectors.joining(" "));
        }

        /** One word in single quotes, or unchanged if no character in it is special to a shell. */
        public static String quote(String word) {
            return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
        }
    }
}
