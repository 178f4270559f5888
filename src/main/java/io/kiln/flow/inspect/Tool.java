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
 * A system program that a build may need.
 *
 * @param program its name on the PATH
 * @param packages the Debian packages that contain it
 * @param purpose what it is used for
 */
record Tool(String program, List<String> packages, String purpose) {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    Tool {
        packages = List.copyOf(packages);
    }

    /** The program's path, if it is installed. */
    Optional<Path> path() {
        return Executables.find(program);
    }

    /** The first line of its version output; {@code missing} if it is not installed. */
    String version() {
        return path().map(Tool::ask).orElse("missing");
    }

    private static String ask(Path executable) {
        ProcessResult result =
                ProcessRunner.run(Command.of(executable.toString(), "--version").within(PATIENCE));
        return result.message().lines().findFirst().orElse("installed, version unknown");
    }
}
