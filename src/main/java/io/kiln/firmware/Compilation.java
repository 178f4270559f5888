// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
import io.kiln.firmware.BuildIndex.Entry;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.Result;
import io.kiln.toolchain.compiler.SourceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** One source on its way to an object. */
final class Compilation {
    /** Variables that would change what a compiler reads or finds, whatever the command line says. */
    static final Set<String> MISLEADING = Set.of(
            "CPATH",
            "C_INCLUDE_PATH",
            "LIBRARY_PATH",
            "COMPILER_PATH",
            "GCC_EXEC_PREFIX",
            "DEPENDENCIES_OUTPUT",
            "SUNPRO_DEPENDENCIES",
            "CCC_OVERRIDE_OPTIONS",
            "SOURCE_DATE_EPOCH");

    private static final Duration LIMIT = Duration.ofMinutes(10);

    private final FirmwareProject project;
    private final SourceUnit unit;
    private final CommandLines lines;

    Compilation(FirmwareProject project, SourceUnit unit) {
        this.project = project;
        this.unit = unit;
        this.lines = new CommandLines(project);
    }

    /**
     * How a compilation went.
     *
     * @param unit the source
     * @param command the line, for people
     * @param result how the compiler ended
     * @param entry what the object was made from; empty if it failed
     */
    record Outcome(SourceUnit unit, String command, Result result, Optional<Entry> entry) {}

    SourceUnit unit() {
        return unit;
    }

    /** Digest of the command line without the project's own place, so that a moved project stays up to date. */
    String commandDigest() {
        String line = String.join("\0", line(lines.relative(project.objectFile(unit)), "dep"));
        return Digests.sha256(line.replace(project.directory().toString(), "."));
    }

    /** Why the object has to be made again; empty if it is up to date. */
    Optional<String> reason(Map<String, Entry> index, FileDigests digests) {
        Optional<Entry> last = Optional.ofNullable(index.get(unit.path()));
        return Staleness.reason(last, tool(project), commandDigest(), digests, project.objectDirectory())
                .or(() -> last.flatMap(this::newRival));
    }

    /** A header of a name that was read before, now also somewhere where the compiler may look earlier. */
    private Optional<String> newRival(Entry last) {
        return rivals(last.inputs().keySet()).stream()
                .filter(rival -> !last.rivals().contains(rival))
                .findFirst()
                .map(rival -> Staleness.fileName(rival) + " was added");
    }

    private List<String> rivals(Set<String> inputs) {
        Set<String> names = inputs.stream().map(Staleness::fileName).collect(Collectors.toSet());
        return project.headers().stream()
                .filter(header -> !inputs.contains(header) && names.contains(Staleness.fileName(header)))
                .toList();
    }

    /** Compiles; the object appears only if the compiler succeeded. */
    Outcome run(FileDigests digests) {
        Path object = project.objectFile(unit);
        Path part = object.resolveSibling(object.getFileName() + ".part");
        Path depFile = object.resolveSibling(object.getFileName() + ".d");
        Instant began = Instant.now();
        try {
            Files.createDirectories(object.getParent());
            if (project.board().foreign()) {
                new ForeignAssembly(project, unit).check(object.resolveSibling(object.getFileName() + ".s"));
            }
            List<String> line = line(lines.relative(part), lines.relative(depFile));
            Command command = Command.ofLine(line)
                    .in(project.directory())
                    .with("LC_ALL", "C")
                    .without(MISLEADING)
                    .within(LIMIT);
            Result result = ProcessRunner.run(command);
            if (!result.succeeded()) {
                Files.deleteIfExists(part);
                return new Outcome(unit, command.text(), result, Optional.empty());
            }
            if (project.board().foreign()) {
                new ForeignAssembly(project, unit).checkIncluded(DepFile.prerequisites(Files.readString(depFile)));
            }
            Files.move(part, object, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return new Outcome(unit, command.text(), result, Optional.of(entry(digests, began, depFile, object)));
        } catch (IOException e) {
            throw FileFailure.of("cannot write", object, e);
        }
    }

    /** An input that changed while the compiler ran has no digest, which makes the object stale. */
    private Entry entry(FileDigests digests, Instant began, Path depFile, Path object) throws IOException {
        Map<String, String> inputs = new TreeMap<>();
        for (String input : DepFile.prerequisites(Files.readString(depFile))) {
            inputs.put(input, digests.read(input, began).orElse(""));
        }
        for (String input : unlisted()) {
            inputs.put(input, digests.read(input, began).orElse(""));
        }
        Map<String, String> outputs =
                Map.of(unit.object(), FileDigests.digest(object).orElse(""));
        return new Entry(tool(project), commandDigest(), inputs, rivals(inputs.keySet()), outputs);
    }

    /** Compilers do not list what assembler reads with {@code .incbin}: any of the user's files that is neither source nor header. */
    private List<String> unlisted() {
        return unit.kind() == SourceKind.USER
                ? project.headers().stream()
                        .filter(file -> file.startsWith(ProjectFiles.USER + "/"))
                        .filter(file -> UserFile.of(Staleness.fileName(file)) == UserFile.OTHER)
                        .toList()
                : List.of();
    }

    private List<String> line(String object, String depFile) {
        return lines.compile(unit, unit.path(), object, Optional.of(depFile));
    }

    /** What makes objects, beside the flags. */
    static String tool(FirmwareProject project) {
        return project.toolchain().version() + " / " + project.pluginVersion();
    }
}
