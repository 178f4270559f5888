// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.process.Command;
import io.kiln.process.Executables;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Finds the server program of a folder: its launch script, or the Python file that Python runs. */
final class ServerProgram {
    private static final String PYTHON_FILE = "microtvm_api_server.py";
    private static final String LAUNCHER = "launch_microtvm_api_server.";
    private static final boolean IS_WINDOWS =
            System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("windows");

    /** Arguments that let a server read requests from standard input and write replies to standard output: the JVM inherits no other pipes to it. */
    private static final List<String> PIPES = List.of("--read-fd", "0", "--write-fd", "1");

    /** Longest life of a server's process, even if each of its answers is in time. */
    private static final Duration LONGEST_LIFE = Duration.ofHours(12);

    private ServerProgram() {}

    /**
     * The command for a folder.
     *
     * @throws KilnException if there is no server, or no Python to run it
     */
    static Command command(Path directory) {
        Path folder = directory.toAbsolutePath().normalize();
        Path script = folder.resolve(LAUNCHER + (IS_WINDOWS ? "bat" : "sh"));
        Path python = folder.resolve(PYTHON_FILE);
        List<String> line = new ArrayList<>();
        if (Files.isRegularFile(script)) {
            line.addAll(List.of(script.toString(), python.toString()));
        } else if (Files.isRegularFile(python)) {
            line.addAll(List.of(python(python), python.toString()));
        } else {
            throw new KilnException(Failure.API.problem(
                    "No Project API server found in project directory",
                    folder.toString(),
                    script.getFileName() + " or " + PYTHON_FILE,
                    ""));
        }
        line.addAll(PIPES);
        return Command.ofLine(line).in(folder).within(LONGEST_LIFE);
    }

    private static String python(Path file) {
        return Executables.find("python3")
                .or(() -> Executables.find("python"))
                .map(Path::toString)
                .orElseThrow(() -> new KilnException(Failure.API.problem(
                        "there is no Python to run it", file.toString(), "python3 on the PATH", "Install Python 3")));
    }
}
