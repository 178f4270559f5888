// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.process.Command;
import io.kiln.process.Executables;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A program of the system that a build may need.
 *
 * @param program its name on the PATH
 * @param packages the Debian packages that have it
 * @param purpose what it is for
 */
record Tool(String program, List<String> packages, String purpose) {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    Tool {
        packages = List.copyOf(packages);
    }

    /** Where it is, if it is there. */
    Optional<Path> path() {
        return Executables.find(program);
    }

    /** The first line that it says of its version; {@code missing} if it is not there. */
    String version() {
        return path().map(Tool::ask).orElse("missing");
    }

    private static String ask(Path executable) {
        ProcessResult result =
                ProcessRunner.run(Command.of(executable.toString(), "--version").within(PATIENCE));
        return result.message().lines().findFirst().orElse("present, says no version");
    }
}
