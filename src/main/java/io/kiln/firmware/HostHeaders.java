// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import io.kiln.toolchain.fence.PlainIncludes;
import io.kiln.toolchain.fence.Refusal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The files that untrusted code may read on this computer, whose compiler cannot be limited to an overlay: the
 * project's files, and headers in the compiler's own folders. Before the compiler sees them, untrusted files are
 * checked to include by plain relative names only; the files that the compiler read are checked before its output is
 * used.
 */
final class HostHeaders {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final FirmwareProject project;
    private final Set<String> files;
    private final List<Path> folders;

    private HostHeaders(FirmwareProject project, Set<String> files, List<Path> folders) {
        this.project = project;
        this.files = files;
        this.folders = folders;
    }

    /**
     * The readable headers of a project.
     *
     * @throws KilnException naming every line of an untrusted file that includes anything but a header by its plain
     * name
     */
    static HostHeaders of(FirmwareProject project) {
        checkIncludes(project);
        Set<String> files = new LinkedHashSet<>(project.headers());
        project.units().forEach(unit -> files.add(unit.path()));
        return new HostHeaders(project, files, folders(project));
    }

    /** Whether a file, given as the compiler names it, may be read. */
    boolean contains(String name) {
        Path path = project.directory().resolve(name).normalize();
        return files.contains(project.directory().relativize(path).toString())
                || (name.endsWith(".h") && folders.stream().anyMatch(path::startsWith));
    }

    private static void checkIncludes(FirmwareProject project) {
        Problems problems = new Problems();
        for (Map.Entry<String, String> file : project.strangers().files().entrySet()) {
            try {
                byte[] content = Files.readAllBytes(project.directory().resolve(file.getKey()));
                String text = new String(content, StandardCharsets.ISO_8859_1);
                for (Refusal refusal : PlainIncludes.refusals(file.getKey(), text)) {
                    problems.add(
                            "refused in code that is not trusted: " + refusal.what(),
                            refusal.where(),
                            "",
                            file.getValue());
                }
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read " + file.getKey(), e);
            }
        }
        problems.throwIfAny();
    }

    /** GCC and Clang print the list in the same format. */
    private static List<Path> folders(FirmwareProject project) {
        ProcessResult result = ProcessRunner.run(Command.of(project.toolchain().compiler(), "-E", "-v", "-x", "c", "-")
                .in(project.directory())
                .without(Compilation.MISLEADING)
                .within(LIMIT));
        List<Path> folders = new ArrayList<>();
        boolean isList = false;
        for (String line : result.errors().lines().toList()) {
            if (line.startsWith("#include <...>")) {
                isList = true;
            } else if (line.startsWith("End of search list")) {
                isList = false;
            } else if (isList) {
                folders.add(project.directory().resolve(line.strip()).normalize());
            }
        }
        return folders;
    }
}
