// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Printable;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec.VelaSpec;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Arm's Vela, a program of the user's, which compiles a model for an Ethos-U.
 *
 * @param file where it is
 * @param limit the longest time that it may take for a model
 */
public record VelaProgram(Path file, Duration limit) {
    private static final Duration USUAL_LIMIT = Duration.ofMinutes(10);
    private static final Duration TO_TELL_VERSION = Duration.ofMinutes(1);
    private static final Pattern VERSION = Pattern.compile("\\d{1,4}(\\.[A-Za-z0-9+_-]{1,40}){1,6}");
    private static final int LINES_SHOWN = 12;

    /**
     * Finds it.
     *
     * @throws KilnException if it is not there, with what to install
     */
    public static VelaProgram find(VelaSpec spec) {
        boolean isPath = spec.program().contains("/") || spec.program().contains(File.separator);
        Optional<Path> found = isPath
                ? Optional.of(Path.of(spec.program())).filter(Files::isExecutable)
                : Executables.find(spec.program());
        return found.map(file -> new VelaProgram(file.toAbsolutePath(), USUAL_LIMIT))
                .orElseThrow(() -> Failure.TOOL.exception(
                        "Vela, which kiln.npu asks for, is not installed",
                        spec.program() + (isPath ? "" : " on the PATH"),
                        "Arm's compiler for Ethos-U, a Python package",
                        "Install it with pip install ethos-u-vela, or name it with kiln.npu.vela; or compile the model"
                                + " with Vela elsewhere, give Kiln the result as kiln.model, and leave kiln.npu out"));
    }

    /**
     * The version that it says it is.
     *
     * @throws KilnException if it says none, or another one than the build asks for
     */
    public String version(VelaSpec spec) {
        ProcessResult result =
                ProcessRunner.run(Command.of(file.toString(), "--version").within(TO_TELL_VERSION));
        List<String> said = result.output().strip().lines().toList();
        String version = said.isEmpty() ? "" : said.get(said.size() - 1).strip();
        if (!result.succeeded() || !VERSION.matcher(version).matches()) {
            throw Failure.TOOL.exception(
                    "Vela does not say which version it is: " + text(result),
                    file.toString(),
                    "a version such as 3.10.0, printed by --version",
                    "Check that it runs: " + file + " --version");
        }
        spec.version().filter(only -> !only.equals(version)).ifPresent(only -> {
            throw Failure.TOOL.exception(
                    "Vela is version " + version,
                    file.toString(),
                    "version " + only + ", as kiln.npu.velaVersion says",
                    "Install it with pip install ethos-u-vela==" + only + ", or change kiln.npu.velaVersion");
        });
        return version;
    }

    /**
     * Runs it in a folder that holds the model.
     *
     * @return what it printed
     * @throws KilnException if it fails, or does not end in time
     */
    public String compile(Path folder, List<String> arguments, Path log) {
        Command command = Command.of(file.toString(), arguments)
                .in(folder)
                .within(limit)
                .owning(folder)
                .loggingTo(log);
        ProcessResult result = ProcessRunner.run(command);
        if (result.timedOut()) {
            throw Failure.TOOL.exception(
                    "Vela did not end within " + limit.toSeconds() + " s and was stopped",
                    command.text(),
                    "a compiled model",
                    "Run it by hand; what it has printed is in " + log);
        }
        if (!result.succeeded()) {
            throw Failure.TOOL.exception(
                    "Vela failed with exit code " + result.exitCode() + ": " + text(result),
                    command.text(),
                    "a compiled model",
                    "Correct what it says; all of it is in " + log);
        }
        return result.output();
    }

    /** The end of what it printed: an error of a Python program is its last line. */
    private static String text(ProcessResult result) {
        List<String> lines = result.message().lines().toList();
        return Printable.line(String.join(" | ", lines.subList(Math.max(0, lines.size() - LINES_SHOWN), lines.size())));
    }
}
