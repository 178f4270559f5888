// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.process.Command;
import io.kiln.process.Executables;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * An installed OpenOCD.
 *
 * @param executable the program
 * @param version its version line, such as {@code Open On-Chip Debugger 0.12.0}
 */
public record OpenOcd(Path executable, String version) {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String MISSING = OpenOcdOutput.MARK + "missing ";

    /**
     * Looks for the program.
     *
     * @param name a path, or a name that the PATH resolves
     */
    public static Optional<OpenOcd> find(String name) {
        Optional<Path> found = Executables.find(name);
        if (found.isEmpty() && Files.isExecutable(Path.of(name)) && Files.isRegularFile(Path.of(name))) {
            found = Optional.of(Path.of(name).toAbsolutePath());
        }
        return found.map(path -> new OpenOcd(path, ask(path)));
    }

    private static String ask(Path executable) {
        ProcessResult result =
                ProcessRunner.run(Command.of(executable.toString(), "--version").within(PATIENCE));
        return result.message().lines().findFirst().orElse("OpenOCD of unknown version");
    }

    /**
     * The scripts that are not in OpenOCD's search path. OpenOCD itself is asked, so that its environment and folders
     * count. Flashing also searches the working folder, which has no scripts.
     *
     * @param scripts names as in boards' descriptions
     * @param folders searched before its own
     */
    public Set<String> missing(List<String> scripts, List<Path> folders) {
        List<String> arguments = new ArrayList<>();
        folders.forEach(
                folder -> arguments.addAll(List.of("-s", folder.toAbsolutePath().toString())));
        for (String script : scripts) {
            arguments.add("-c");
            arguments.add("if {[catch {find " + Tcl.word(script) + "}]} {echo " + Tcl.word(MISSING + script) + "}");
        }
        arguments.addAll(List.of("-c", "shutdown"));
        ProcessResult result = ProcessRunner.run(Command.of(executable.toString(), arguments)
                .in(executable.toAbsolutePath().getParent())
                .within(PATIENCE));
        Set<String> missing = new TreeSet<>();
        result.message()
                .lines()
                .filter(line -> line.startsWith(MISSING))
                .forEach(line -> missing.add(line.substring(MISSING.length()).strip()));
        return missing;
    }

    /** The failure if OpenOCD is missing. */
    public static FlashFailure absent(String name) {
        return FlashFailure.before(Kind.NO_OPENOCD, "no program '" + name + "' on the PATH");
    }
}
