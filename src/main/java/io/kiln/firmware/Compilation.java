// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.Problem;
import io.kiln.base.incremental.FileDigests;
import io.kiln.base.incremental.Made;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ShellWords;
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

/** Compiles one source to an object. */
final class Compilation {
    /** Environment variables that would change what a compiler reads or finds, whatever the command line says. */
    static final Set<String> MISLEADING = Set.of(
            "CPATH",
            "C_INCLUDE_PATH",
            "CPLUS_INCLUDE_PATH",
            "LIBRARY_PATH",
            "COMPILER_PATH",
            "LD_RUN_PATH",
            "LDEMULATION",
            "GNUTARGET",
            "GCC_EXEC_PREFIX",
            "DEPENDENCIES_OUTPUT",
            "SUNPRO_DEPENDENCIES",
            "CCC_OVERRIDE_OPTIONS",
            "SOURCE_DATE_EPOCH");

    private static final Duration LEAST = Duration.ofMinutes(10);

    /** Time that a compiler gets for each megabyte of a source. GCC takes half a minute of a processor that has nothing else to do. */
    private static final Duration FOR_EACH_MEGABYTE = Duration.ofMinutes(5);

    /** The result of a compiler that was not started. */
    static final ProcessResult NOTHING = new ProcessResult(0, false, "", "", Duration.ZERO);

    private final FirmwareProject project;
    private final SourceUnit unit;
    private final CommandLines lines;
    private final CachedObject cached;

    Compilation(FirmwareProject project, SourceUnit unit) {
        this.project = project;
        this.unit = unit;
        this.lines = new CommandLines(project);
        this.cached = new CachedObject(project, unit);
    }

    /**
     * The outcome of a compilation.
     *
     * @param unit the source
     * @param command the command line, for people, with a note if the object was in the cache
     * @param result the compiler's result
     * @param made the object's inputs and digest; empty on failure
     * @param refusals reasons not to compile untrusted code
     */
    record Outcome(SourceUnit unit, String command, ProcessResult result, Optional<Made> made, List<Problem> refusals) {
        Outcome {
            refusals = List.copyOf(refusals);
        }
    }

    SourceUnit unit() {
        return unit;
    }

    /** Digest of the command line without the project's path, so that a moved project stays up to date. */
    String commandDigest() {
        String line = String.join("\0", line(lines.relative(project.objectFile(unit)), "dep"))
                + (project.strangers().isEmpty()
                        ? ""
                        : "\0" + project.strangers().names());
        return Digests.sha256(line.replace(project.directory().toString(), "."));
    }

    /** Why the object is out of date; empty if it is not. */
    Optional<String> reason(Map<String, Made> index, FileDigests digests) {
        Optional<Made> last = Optional.ofNullable(index.get(unit.path()));
        Set<String> files = last.map(Staleness::files).orElse(Set.of());
        return Staleness.reason(
                        last,
                        Staleness.inputsNow(tool(project), commandDigest(), files, digests),
                        project.objectDirectory())
                .or(() -> last.flatMap(made -> Staleness.newRival(made, rivals(files))));
    }

    /** Headers of the same name as one that was read, in another folder that the compiler may search earlier. */
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
            Optional<Map<String, String>> known = cached.find(neutralLine(), digests, this::rivals, fence, part);
            if (known.isPresent()) {
                return fromCache(known.get(), part, object);
            }
            Attempt attempt = fence.isPresent() ? fenced(fence.get(), part, depFile) : plain(part, depFile);
            String command = ShellWords.join(line(lines.relative(part), lines.relative(depFile)));
            if (!attempt.result().succeeded() || !attempt.refusals().isEmpty()) {
                Files.deleteIfExists(part);
                Files.deleteIfExists(depFile);
                return new Outcome(unit, command, attempt.result(), Optional.empty(), attempt.refusals());
            }
            Files.move(part, object, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            Map<String, String> inputs = inputs(digests, began, depFile);
            if (Files.exists(depFile)
                    && attempt.isPlain()
                    && attempt.result().message().isBlank()) {
                cached.keep(neutralLine(), inputs, rivals(inputs.keySet()), object);
            }
            return new Outcome(unit, command, attempt.result(), Optional.of(made(inputs, object)), List.of());
        } catch (IOException e) {
            throw FileFailure.of("cannot write", object, e);
        }
    }

    private Outcome fromCache(Map<String, String> inputs, Path part, Path object) throws IOException {
        String command = ShellWords.join(neutralLine()) + " # its object was in the cache";
        Files.move(part, object, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        return new Outcome(unit, command, NOTHING, Optional.of(made(inputs, object)), List.of());
    }

    /** The command line for every project, wherever its objects are. */
    private List<String> neutralLine() {
        return line("object", "dep");
    }

    /**
     * The outcome of a compiler's run.
     *
     * @param isPlain whether it read the files themselves, not checked text
     */
    private record Attempt(ProcessResult result, List<Problem> refusals, boolean isPlain) {
        static Attempt of(ProcessResult result) {
            return new Attempt(result, List.of(), false);
        }

        static Attempt refused(List<Problem> refusals) {
            return new Attempt(NOTHING, refusals, false);
        }
    }

    private Attempt plain(Path part, Path depFile) {
        ProcessResult result = ProcessRunner.run(Command.ofLine(line(lines.relative(part), lines.relative(depFile)))
                .in(project.directory())
                .without(MISLEADING)
                .within(limit(project, unit)));
        return new Attempt(result, List.of(), true);
    }

    /** Time limit of a compiler, which grows with the source. */
    static Duration limit(FirmwareProject project, SourceUnit unit) {
        try {
            return limit(Files.size(project.directory().resolve(unit.path())));
        } catch (IOException e) {
            return LEAST;
        }
    }

    static Duration limit(long bytes) {
        return LEAST.plus(FOR_EACH_MEGABYTE.multipliedBy(bytes >> 20));
    }

    /**
     * Compiles a source behind the fence. One that reads no untrusted file is compiled like the user's own; the files that it then
     * read are checked again.
     */
    private Attempt fenced(Fence fence, Path part, Path depFile) throws IOException {
        if (unit.path().endsWith(".s")) {
            // Not preprocessed, so the file has a single author.
            return project.strangers()
                    .advice(List.of(unit.path()))
                    .map(advice -> Attempt.refused(List.of(fence.assembler(unit, advice))))
                    .orElseGet(() -> plain(part, depFile));
        }
        Fence.Preprocessed source = fence.preprocess(unit, depFile);
        if (!source.result().succeeded()) {
            return fence.mayReadMore(unit)
                    ? withOutsideFiles(fence, source, part, depFile)
                    : Attempt.of(source.result());
        }
        Optional<String> advice = fence.stranger(source.inputs());
        if (advice.isEmpty()) {
            Attempt attempt = plain(part, depFile);
            return attempt.result().succeeded() ? unchanged(fence, attempt, depFile) : attempt;
        }
        List<Problem> refusals = fence.refusals(unit, source, advice.get());
        if (!refusals.isEmpty()) {
            return Attempt.refused(refusals);
        }
        ProcessResult result = fence.compile(unit, source.text(), part);
        return result.succeeded()
                ? new Attempt(result, fence.refusals(unit, part, advice.get()), false)
                : Attempt.of(result);
    }

    /**
     * Compiles a trusted source that may read files outside of the project, unless it also reads an untrusted one, or nobody knows
     * that: then the failure stands.
     */
    private Attempt withOutsideFiles(Fence fence, Fence.Preprocessed source, Path part, Path depFile)
            throws IOException {
        Fence.Barrier barrier = fence.barrier(unit, depFile);
        if (barrier.stands()) {
            return new Attempt(source.result(), barrier.refusals(), false);
        }
        Attempt attempt = plain(part, depFile);
        boolean isOwn = !attempt.result().succeeded()
                || fence.strangerBeside(unit, DepFile.prerequisites(Files.readString(depFile)))
                        .isEmpty();
        return isOwn ? attempt : Attempt.of(source.result());
    }

    private Attempt unchanged(Fence fence, Attempt attempt, Path depFile) throws IOException {
        return fence.strangerBeside(unit, DepFile.prerequisites(Files.readString(depFile)))
                .map(advice -> Attempt.refused(
                        List.of(Failure.CODE.problem("it reads other files than before", unit.path(), "", advice))))
                .orElse(attempt);
    }

    /** Digests of the files read; an input that changed while the compiler ran has none, which makes the object stale. */
    private Map<String, String> inputs(FileDigests digests, Instant began, Path depFile) throws IOException {
        Map<String, String> inputs = new TreeMap<>();
        // Unpreprocessed assembly reads no other files, and compilers write no list for it.
        List<String> read =
                Files.exists(depFile) ? DepFile.prerequisites(Files.readString(depFile)) : List.of(unit.path());
        for (String input : read) {
            inputs.put(input, digests.read(input, began).orElse(""));
        }
        for (String input : binariesIncluded()) {
            inputs.put(input, digests.read(input, began).orElse(""));
        }
        return inputs;
    }

    private Made made(Map<String, String> inputs, Path object) {
        Map<String, String> outputs =
                Map.of(unit.object(), FileDigests.digest(object).orElse(""));
        return Made.of(Staleness.inputs(tool(project), commandDigest(), inputs, rivals(inputs.keySet())), outputs);
    }

    /** Files that assembler may read with {@code .incbin}, which compilers do not list: the user's files that are neither sources nor headers. */
    private List<String> binariesIncluded() {
        return unit.kind().isUsers()
                ? project.headers().stream()
                        .filter(file -> project.code().folderOf(file).isPresent())
                        .filter(file -> UserFile.of(Staleness.fileName(file)) == UserFile.OTHER)
                        .toList()
                : List.of();
    }

    private List<String> line(String object, String depFile) {
        return lines.compile(unit, unit.path(), object, Optional.of(depFile));
    }

    /** The versions that made an object. */
    static String tool(FirmwareProject project) {
        return project.toolchain().version() + " / " + project.pluginVersion();
    }
}
