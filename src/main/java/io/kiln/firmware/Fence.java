// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.elf.ElfFile;
import io.kiln.firmware.FirmwareCompiler.Compilation;
import io.kiln.firmware.FirmwareCompiler.Compilation.DepFile;
import io.kiln.firmware.FirmwareLinker.HostSymbols;
import io.kiln.firmware.ObjectCache.CachedObject;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.fence.Dialect;
import io.kiln.toolchain.fence.FencedC;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Compiles untrusted code, and code that reads untrusted files. A source is preprocessed once; the text is held in
 * memory and checked against a small language ({@link FencedC}), and exactly this text goes to the compiler's standard
 * input. So a source is never read a second time with a different result, and no file between check and compiler can be
 * changed. The files that the preprocessor may read are limited as well, by {@link FencedToolchain.ClosedWorld}.
 */
final class Fence {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    /** Limit in bytes of preprocessed text: the largest models need a fifth. A few macros can expand to any amount. */
    private static final int MOST_TEXT = 128 << 20;

    private final FirmwareProject project;
    private final CommandLines lines;
    private final FencedToolchain toolchain;

    private Fence(FirmwareProject project) {
        this.project = project;
        this.lines = new CommandLines(project);
        this.toolchain = FencedToolchain.of(project);
    }

    /**
     * The fence of a project; empty if the project has no untrusted files.
     *
     * @throws KilnException if the project's compiler cannot be fenced
     */
    static Optional<Fence> of(FirmwareProject project) {
        return project.strangers().isEmpty() ? Optional.empty() : Optional.of(new Fence(project));
    }

    /**
     * A preprocessed source.
     *
     * @param text what the preprocessor printed
     * @param inputs the files read, as named by the preprocessor
     * @param result the preprocessor's result, without its output
     */
    record Preprocessed(Bytes text, List<String> inputs, ProcessResult result) {}

    /** Preprocesses a source with everything that it includes. */
    Preprocessed preprocess(SourceUnit unit, Path depFile) throws IOException {
        List<String> line = CommandLines.preprocess(unit, toolchain.preprocessing(unit), lines.relative(depFile));
        long start = System.nanoTime();
        try (RunningProcess process = ProcessRunner.start(command(line))) {
            process.input().close();
            byte[] text = process.output().readNBytes(MOST_TEXT);
            if (text.length == MOST_TEXT) {
                throw Failure.TRUST.exception(
                        "the preprocessed source has more than " + MOST_TEXT + " bytes", unit.path());
            }
            int code = process.waitFor(LIMIT).orElse(1);
            Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
            ProcessResult result = new ProcessResult(code, process.timedOut(), "", process.errors(), elapsed);
            List<String> inputs =
                    result.succeeded() ? DepFile.prerequisites(Files.readString(depFile)) : List.<String>of();
            return new Preprocessed(Bytes.wrap(text), inputs, result);
        }
    }

    /**
     * What keeps a source that cannot be preprocessed from the compiler.
     *
     * @param stands whether the preprocessor's failure stands: the source is untrusted, or includes an untrusted file
     * @param refusals reasons why nobody knows that; if there are any, the source is refused
     */
    record Barrier(boolean stands, List<Problem> refusals) {}

    /** Finds out which files a source includes, although it cannot be preprocessed: other files may be missing. */
    Barrier barrier(SourceUnit unit, Path depFile) throws IOException {
        Files.deleteIfExists(depFile);
        List<String> line = CommandLines.listIncludes(unit, toolchain.preprocessing(unit), lines.relative(depFile));
        ProcessRunner.run(command(line));
        if (!Files.exists(depFile)) {
            String advice = project.strangers()
                    .advice(List.of(unit.path()))
                    .orElseGet(() -> String.join(" ", project.strangers().advice()));
            return new Barrier(
                    true,
                    List.of(Failure.TRUST.problem(
                            "refused: the preprocessor cannot tell which files it includes, so nobody knows whether"
                                    + " all of them are trusted",
                            unit.path(),
                            "",
                            advice)));
        }
        List<String> files = new ArrayList<>(names(DepFile.prerequisites(Files.readString(depFile))));
        files.add(unit.path());
        return new Barrier(project.strangers().advice(files).isPresent(), List.of());
    }

    /** Whether a source may read files outside of the project, as long as it reads no untrusted one: the user's own, and Kiln's on this computer. */
    boolean mayReadMore(SourceUnit unit) {
        return unit.kind().isUsers() || toolchain.dialect() == Dialect.HOST;
    }

    /**
     * How to trust the untrusted file among these; empty if all of them are the user's or Kiln's. A file that is not
     * the project's counts as untrusted.
     */
    Optional<String> stranger(List<String> inputs) {
        boolean isKnown = inputs.stream().allMatch(toolchain::mayRead);
        return project.strangers()
                .advice(names(inputs))
                .or(() -> isKnown
                        ? Optional.empty()
                        : project.strangers().advice().stream().findFirst());
    }

    /** Files in the form of the project's list of untrusted ones. */
    private List<String> names(List<String> inputs) {
        List<String> names = new ArrayList<>();
        for (String input : inputs) {
            Path path = project.directory().resolve(input).normalize();
            names.add(project.directory().relativize(path).toString().replace('\\', '/'));
        }
        return names;
    }

    /** As {@link #stranger}, for files read by a source that may read files outside of the project. */
    Optional<String> strangerBeside(SourceUnit unit, List<String> inputs) {
        List<String> inside = mayReadMore(unit)
                ? inputs.stream()
                        .filter(input ->
                                project.directory().resolve(input).normalize().startsWith(project.directory()))
                        .toList()
                : inputs;
        return stranger(inside);
    }

    /**
     * Reasons not to compile a text; empty if there are none.
     *
     * @param advice how to trust the author
     */
    List<Problem> refusals(SourceUnit unit, Preprocessed source, String advice) {
        List<Problem> problems = new ArrayList<>();
        if (!unit.path().endsWith(".c")) {
            return List.of(assembler(unit, advice));
        }
        source.inputs().stream()
                .filter(input -> !toolchain.mayRead(input))
                .forEach(input -> problems.add(refused("reading " + input, unit.path(), advice)));
        FencedC.refusals(source.text().toArray(), toolchain.dialect(), toolchain::mayRead)
                .forEach(refusal -> problems.add(refused(refusal.what(), refusal.where(), advice)));
        return problems;
    }

    /** Refuses an assembler source, whose directives cannot be checked, and C++, whose text is not of the small language. */
    Problem assembler(SourceUnit unit, String advice) {
        return refused("an assembler source or C++, or one that includes an untrusted file", unit.path(), advice);
    }

    /** Compiles a text that was not refused, or takes its object from the cache. */
    ProcessResult compile(SourceUnit unit, Bytes text, Path object) {
        CachedObject cached = new CachedObject(project, unit);
        List<String> neutral = lines.compileText(unit, toolchain.compiling(unit), "object");
        if (cached.findText(neutral, text.toArray(), object)) {
            return Compilation.NOTHING;
        }
        List<String> line = lines.compileText(unit, toolchain.compiling(unit), lines.relative(object));
        ProcessResult result = ProcessRunner.run(command(line).reading(text).within(Compilation.limit(project, unit)));
        if (result.succeeded() && result.message().isBlank()) {
            cached.keepText(neutral, text.toArray(), object);
        }
        return result;
    }

    /** Reasons not to link an object; empty if there are none. */
    List<Problem> refusals(SourceUnit unit, Path object, String advice) {
        if (toolchain.dialect() != Dialect.HOST) {
            return List.of();
        }
        return HostSymbols.refusals(ElfFile.read(object)).stream()
                .map(what -> refused(what, unit.path(), advice))
                .toList();
    }

    private static Problem refused(String what, String where, String advice) {
        return Failure.TRUST.problem("refused in code that is not trusted: " + what, where, "", advice);
    }

    /** Fixes the time that {@code __DATE__} and {@code __TIME__} show, so that a source cannot read the clock. */
    private Command command(List<String> line) {
        return Command.ofLine(line)
                .in(project.directory())
                .without(Compilation.MISLEADING)
                .with("SOURCE_DATE_EPOCH", "0")
                .within(LIMIT);
    }
}
