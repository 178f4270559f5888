// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.WholeFiles;
import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.nio.file.Path;

/** A C program of one file, built on this machine with every warning as an error and UndefinedBehaviorSanitizer. */
public final class CheckedProgram {
    private CheckedProgram() {}

    /** Builds the program in a folder, runs it, and returns what it prints. A failure of either fails the test. */
    public static String run(Path folder, String source) {
        WholeFiles.write(folder.resolve("main.c"), source);
        succeed(KeptPrograms.make(
                folder,
                "main",
                Command.of(
                        "cc",
                        "-std=c99",
                        "-Wall",
                        "-Wextra",
                        "-Wconversion",
                        "-Wshadow",
                        "-Werror",
                        "-fsanitize=undefined",
                        "-fno-sanitize-recover=all",
                        "main.c",
                        "-o",
                        "main")));
        return succeed(ProcessRunner.run(Command.of("./main").in(folder)));
    }

    private static String succeed(ProcessResult result) {
        assertThat(result.exitCode()).as(result.output()).isZero();
        return result.output();
    }
}
