// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Parallel;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.base.incremental.FileDigests;
import io.kiln.base.incremental.Journal;
import io.kiln.base.incremental.Made;
import io.kiln.firmware.Compilation.Outcome;
import io.kiln.toolchain.compiler.SourceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
        ObjectCache.of(project.toolchain()).limit(ObjectCache.MOST_BYTES);
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
}
