// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
import io.kiln.base.Problem;
import io.kiln.firmware.BuildIndex.Entry;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.Result;
import io.kiln.process.ShellWords;
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

    /** Of a compiler that was not started. */
    private static final Result NOTHING = new Result(0, false, "", "", Duration.ZERO);

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
     * @param refusals what keeps it from being compiled, as the build trusts not all of its authors
     */
    record Outcome(SourceUnit unit, String command, Result result, Optional<Entry> entry, List<Problem> refusals) {
        Outcome {
            refusals = List.copyOf(refusals);
        }
    }

    SourceUnit unit() {
        return unit;
    }

    /** Digest of the command line without the project's own place, so that a moved project stays up to date. */
    String commandDigest() {
        String line = String.join("\0", line(lines.relative(project.objectFile(unit)), "dep"))
                + (project.strangers().isEmpty()
                        ? ""
                        : "\0" + project.strangers().names());
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

    /** Compiles; the object appears only if the compiler succeeded and nothing is refused. */
    Outcome run(FileDigests digests, Optional<Fence> fence) {
        Path object = project.objectFile(unit);
        Path part = object.resolveSibling(object.getFileName() + ".part");
        Path depFile = object.resolveSibling(object.getFileName() + ".d");
        Instant began = Instant.now();
        try {
            Files.createDirectories(object.getParent());
            Made made = fence.isPresent() ? fenced(fence.get(), part, depFile) : plain(part, depFile);
            String command = ShellWords.join(line(lines.relative(part), lines.relative(depFile)));
            if (!made.result().succeeded() || !made.refusals().isEmpty()) {
                Files.deleteIfExists(part);
                Files.deleteIfExists(depFile);
                return new Outcome(unit, command, made.result(), Optional.empty(), made.refusals());
            }
            Files.move(part, object, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return new Outcome(
                    unit, command, made.result(), Optional.of(entry(digests, began, depFile, object)), List.of());
        } catch (IOException e) {
            throw FileFailure.of("cannot write", object, e);
        }
    }

    /** How it went, and what is refused. */
    private record Made(Result result, List<Problem> refusals) {
        Made(Result result) {
            this(result, List.of());
        }
    }

    private Made plain(Path part, Path depFile) {
        return new Made(ProcessRunner.run(Command.ofLine(line(lines.relative(part), lines.relative(depFile)))
                .in(project.directory())
                .with("LC_ALL", "C")
                .without(MISLEADING)
                .within(LIMIT)));
    }

    /** What reads nothing of a stranger's is compiled like the user's own; what it read then is held against that once more. */
    private Made fenced(Fence fence, Path part, Path depFile) throws IOException {
        if (unit.path().endsWith(".s")) {
            // Not preprocessed, so that it is by one author alone.
            return project.strangers()
                    .advice(List.of(unit.path()))
                    .map(advice -> new Made(NOTHING, List.of(fence.assembler(unit, advice))))
                    .orElseGet(() -> plain(part, depFile));
        }
        Fence.Preprocessed source = fence.preprocess(unit, depFile);
        if (!source.result().succeeded()) {
            return unit.kind() == SourceKind.USER ? elsewhere(fence, source, part, depFile) : new Made(source.result());
        }
        Optional<String> advice = fence.stranger(source.inputs());
        if (advice.isEmpty()) {
            Made made = plain(part, depFile);
            return made.result().succeeded() ? unchanged(fence, made, depFile) : made;
        }
        List<Problem> refusals = fence.refusals(unit, source, advice.get());
        if (!refusals.isEmpty()) {
            return new Made(NOTHING, refusals);
        }
        Result result = fence.compile(unit, source.text(), part);
        return new Made(result, result.succeeded() ? fence.refusals(unit, part, advice.get()) : List.of());
    }

    /** The user's own source may read files outside of the project, but not together with a stranger's: then it stays with what failed. */
    private Made elsewhere(Fence fence, Fence.Preprocessed source, Path part, Path depFile) throws IOException {
        Made made = plain(part, depFile);
        boolean isOwn = made.result().succeeded()
                && fence.strangerBeside(unit, DepFile.prerequisites(Files.readString(depFile)))
                        .isEmpty();
        return isOwn ? made : new Made(source.result());
    }

    private Made unchanged(Fence fence, Made made, Path depFile) throws IOException {
        return fence.stranger(DepFile.prerequisites(Files.readString(depFile)))
                .map(advice -> new Made(
                        made.result(),
                        List.of(new Problem("it reads other files than before", unit.path(), "", advice))))
                .orElse(made);
    }

    /** An input that changed while the compiler ran has no digest, which makes the object stale. */
    private Entry entry(FileDigests digests, Instant began, Path depFile, Path object) throws IOException {
        Map<String, String> inputs = new TreeMap<>();
        // Assembly that is not preprocessed reads nothing else, and compilers write no list.
        List<String> read =
                Files.exists(depFile) ? DepFile.prerequisites(Files.readString(depFile)) : List.of(unit.path());
        for (String input : read) {
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
