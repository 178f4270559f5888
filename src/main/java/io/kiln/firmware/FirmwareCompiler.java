// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Parallel;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.base.incremental.Fingerprint.Made;
import io.kiln.base.incremental.Fingerprint.Made.FileDigests;
import io.kiln.base.incremental.Fingerprint.Made.Journal;
import io.kiln.firmware.FirmwareCompiler.Compilation.Outcome;
import io.kiln.firmware.ObjectCache.CachedObject;
import io.kiln.firmware.ObjectCache.Staleness;
import io.kiln.process.Command;
import io.kiln.process.Command.ShellWords;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.compiler.SourceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Compiles the sources of a project whose text, headers, flags or compiler changed. */
public final class FirmwareCompiler {
    static final String INDEX = "objects.json";
    private static final String LOG_FILE = "compile.log";
    private static final int REASONS_SHOWN = 3;
    private static final int NAMES_SHOWN = 12;

    /** What clang and GCC say of a header that does not exist. */
    private static final Pattern MISSING =
            Pattern.compile("error: (?:'([^'\n]{1,200})' file not found|([^:\n]{1,200}): No such file or directory)");

    private FirmwareCompiler() {}

    /**
     * Compiles in parallel, one process per processor, and logs in one line what it compiles and why. The compilers'
     * whole output is in {@code compile.log} in the project's build directory.
     *
     * @throws KilnException with the compiler's output for each source that does not compile
     */
    public static CompiledObjects compile(FirmwareProject project, Log log) {
        return compile(project, Optional.empty(), log);
    }

    /**
     * As {@link #compile(FirmwareProject, Log)}, for a stand-in board or another application: only the board's own sources and those that
     * differ are compiled, the other objects are the first project's.
     */
    public static CompiledObjects compileStandIn(FirmwareProject project, CompiledObjects first, Log log) {
        return compile(project, Optional.of(first), log);
    }

    private static CompiledObjects compile(FirmwareProject project, Optional<CompiledObjects> first, Log log) {
        Map<String, Path> files = new TreeMap<>();
        List<Compilation> own = new ArrayList<>();
        for (SourceUnit unit : project.units()) {
            Optional<Path> shared = first.filter(objects -> !unit.ofBoard() && isSame(unit, project, objects.project()))
                    .map(objects -> objects.files().get(unit.path()));
            files.put(unit.path(), shared.orElse(project.objectFile(unit)));
            if (shared.isEmpty()) {
                own.add(new Compilation(project, unit));
            }
        }
        CompiledObjects objects = new CompiledObjects(project, files, compileStale(project, own, log));
        MainFunction.check(objects);
        return objects;
    }

    /** Whether two projects have the same content for a source; both applications have a main.c. */
    private static boolean isSame(SourceUnit unit, FirmwareProject one, FirmwareProject other) {
        Path file = one.directory().resolve(unit.path());
        Path same = other.directory().resolve(unit.path());
        try {
            return Files.isRegularFile(same) && Files.mismatch(file, same) < 0;
        } catch (IOException e) {
            throw FileFailure.of("cannot compare " + file + " with", same, e);
        }
    }

    private static List<String> compileStale(FirmwareProject project, List<Compilation> own, Log log) {
        Journal journal = new Journal(project.buildDirectory().resolve(INDEX));
        Map<String, Made> index = journal.read();
        FileDigests digests = new FileDigests(project.directory());
        List<Compilation> stale = new ArrayList<>();
        Set<String> reasons = new LinkedHashSet<>();
        for (Compilation compilation : own) {
            compilation.reason(index, digests).ifPresent(reason -> {
                stale.add(compilation);
                reasons.add(reason);
            });
        }
        if (stale.isEmpty()) {
            log.info("Nothing changed: " + own.size() + " objects are up to date");
            return List.of();
        }
        log.info(summary(stale.size(), own.size(), reasons) + " ("
                + project.toolchain().title() + ")");
        // Digests are taken before any compiler starts, so that edits during compilation are noticed.
        project.units().forEach(unit -> digests.of(unit.path()));
        project.headers().forEach(digests::of);
        List<Outcome> outcomes = run(stale, digests, Fence.of(project));
        requireSpace(project, outcomes);
        writeLog(project, outcomes);
        Map<String, Made> next = new TreeMap<>();
        own.stream()
                .map(compilation -> compilation.unit().path())
                .filter(index::containsKey)
                .forEach(path -> next.put(path, index.get(path)));
        outcomes.forEach(outcome -> outcome.made()
                .ifPresentOrElse(
                        made -> next.put(outcome.unit().path(), made),
                        () -> next.remove(outcome.unit().path())));
        journal.write(next);
        if (outcomes.stream()
                .filter(outcome -> !outcome.result().equals(Compilation.NOTHING))
                .flatMap(outcome -> outcome.made().stream())
                .anyMatch(ObjectCache::isTurn)) {
            ObjectCache.of(project.toolchain()).limit(ObjectCache.MOST_BYTES);
        }
        report(project, outcomes, log);
        return stale.stream().map(compilation -> compilation.unit().path()).toList();
    }

    private static String summary(int stale, int all, Set<String> reasons) {
        if (stale == all && reasons.equals(Set.of("new"))) {
            return "Compiling " + all + " files";
        }
        String shown = reasons.stream().limit(REASONS_SHOWN).collect(Collectors.joining(", "));
        String more = reasons.size() > REASONS_SHOWN ? " and " + (reasons.size() - REASONS_SHOWN) + " more" : "";
        return "Rebuilding " + stale + " of " + all + ": " + shown + more;
    }

    private static List<Outcome> run(List<Compilation> stale, FileDigests digests, Optional<Fence> fence) {
        int threads = Math.min(stale.size(), Runtime.getRuntime().availableProcessors());
        Problem interrupted = Failure.COMPUTER.problem("the build was interrupted", "compile");
        return Parallel.map(stale, threads, interrupted, compilation -> compilation.run(digests, fence));
    }

    /** Reports a full disk once: each compiler would report it differently, and the log could not be written either. */
    private static void requireSpace(FirmwareProject project, List<Outcome> outcomes) {
        boolean isFull = outcomes.stream()
                .anyMatch(outcome -> outcome.made().isEmpty()
                        && FileFailure.isDiskFull(outcome.result().message()));
        if (isFull) {
            throw new KilnException(FileFailure.diskFull(project.objectDirectory()));
        }
    }

    private static void writeLog(FirmwareProject project, List<Outcome> outcomes) {
        String text = outcomes.stream()
                .map(outcome -> "$ " + outcome.command() + "\n"
                        + outcome.result().errors() + outcome.result().output())
                .collect(Collectors.joining());
        WholeFiles.write(project.buildDirectory().resolve(LOG_FILE), text);
    }

    private static void report(FirmwareProject project, List<Outcome> outcomes, Log log) {
        Problems problems = new Problems(Failure.CODE);
        UserNames names = new UserNames(project);
        for (Outcome outcome : outcomes) {
            String said = names.original(outcome.result().message());
            String source = names.name(outcome.unit());
            if (!outcome.refusals().isEmpty()) {
                outcome.refusals().forEach(problems::add);
            } else if (outcome.result().timedOut()) {
                problems.add("the compiler timed out", source);
            } else if (outcome.made().isEmpty()) {
                problems.add("does not compile:\n" + said, source, "", advice(project, outcome));
            } else if (!said.isEmpty()) {
                said.lines().forEach(log::warn);
            }
        }
        problems.throwIfAny();
    }

    /** Advice for a missing header: names the headers of the models, of which the user's code may look for another one, or those of the same name. */
    private static String missingHeader(FirmwareProject project, String wanted) {
        String name = Staleness.fileName(wanted);
        List<String> elsewhere = project.headers().stream()
                .filter(header -> Staleness.fileName(header).equals(name))
                .map(new UserNames(project)::name)
                .toList();
        if (!elsewhere.isEmpty()) {
            return "This build has " + String.join(", ", elsewhere) + ": include it by a path that kiln.include or"
                    + " the folder of the source makes findable";
        }
        List<String> models = project.headers().stream()
                .map(Staleness::fileName)
                .filter(header -> header.startsWith("tvmgen_") && header.endsWith(".h"))
                .distinct()
                .sorted()
                .toList();
        if (name.startsWith("tvmgen_")) {
            return "This build has the headers " + shown(models)
                    + ", which are named by its models: include one of them, or name the model with kiln.name";
        }
        return "This build has no header of that name. It has those of its models (" + shown(models)
                + ") and of the board ("
                + shown(project.headers().stream()
                        .filter(header -> header.startsWith(ProjectFiles.BOARD + "/") && header.endsWith(".h"))
                        .map(Staleness::fileName)
                        .sorted()
                        .toList())
                + "); kiln.include adds folders of headers"
                + (project.strangers().isEmpty()
                        ? ""
                        : ". A source that includes a file that is not trusted sees no other headers of this computer: "
                                + String.join(" ", project.strangers().advice()));
    }

    private static String shown(List<String> names) {
        String more = names.size() > NAMES_SHOWN ? " and " + (names.size() - NAMES_SHOWN) + " more" : "";
        return names.stream().limit(NAMES_SHOWN).collect(Collectors.joining(", ")) + more;
    }

    /** What to do about a source that was not compiled. An archive's C may need more of a C library than Kiln's own models do. */
    private static String advice(FirmwareProject project, Outcome outcome) {
        Optional<String> trust =
                project.strangers().advice(List.of(outcome.unit().path()));
        Matcher missing = MISSING.matcher(outcome.result().message());
        if (outcome.unit().kind().isUsers() && missing.find()) {
            return missingHeader(project, missing.group(1) == null ? missing.group(2) : missing.group(1));
        }
        if (trust.isPresent() && outcome.result().message().contains("file not found")) {
            return "Code that is not trusted sees only the project's files, and of the C library Kiln's own headers. "
                    + trust.get();
        }
        return outcome.unit().kind() == SourceKind.FOREIGN
                        && project.toolchain().shims()
                ? "If a function or header of the C library is missing, try -Dkiln.toolchain=gnu:"
                        + " the bundled compiler has only a small part of that library"
                        + (project.strangers().isEmpty() ? "" : ". That needs trust: kiln.trustArchive")
                : "";
    }

    /** Compiles one source to an object. */
    static final class Compilation {
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
        record Outcome(
                SourceUnit unit, String command, ProcessResult result, Optional<Made> made, List<Problem> refusals) {
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

        /** Reads the make rule that compilers write for {@code -MD}. */
        static final class DepFile {
            private DepFile() {}

            /** The prerequisites of the rule: the source and every header, as named by the compiler. */
            static List<String> prerequisites(String text) {
                String rule = text.replace("\\\r\n", " ").replace("\\\n", " ");
                List<String> names = new ArrayList<>();
                StringBuilder name = new StringBuilder();
                for (int i = rule.indexOf(':') + 1; i < rule.length(); i++) {
                    char c = rule.charAt(i);
                    char next = i + 1 < rule.length() ? rule.charAt(i + 1) : ' ';
                    if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
                        name.append(next);
                        i++;
                    } else if (!Character.isWhitespace(c)) {
                        name.append(c);
                    } else if (!name.isEmpty()) {
                        names.add(name.toString());
                        name.setLength(0);
                    }
                    if (c == '\n') {
                        break;
                    }
                }
                if (!name.isEmpty()) {
                    names.add(name.toString());
                }
                return names;
            }
        }
    }
}
