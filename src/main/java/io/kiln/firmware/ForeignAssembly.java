// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.Result;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads what the assembler would get, for a board that the build does not trust: there are more ways to put a directive together in C
 * than a look at the source can find, but only one way to hand it to the assembler. Every source is looked at, since all of them may
 * include headers of the board.
 */
final class ForeignAssembly {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /** Directives that read files, and those that could put one together out of parts. */
    private static final Pattern DIRECTIVE =
            Pattern.compile("\\.\\s*(?:incbin|include|macro|altmacro|irpc?|mri)\\b", Pattern.CASE_INSENSITIVE);

    private final FirmwareProject project;
    private final SourceUnit unit;

    ForeignAssembly(FirmwareProject project, SourceUnit unit) {
        this.project = project;
        this.unit = unit;
    }

    /**
     * Holds the source's assembly against what is refused; a source that does not compile is left for the compiler to tell.
     *
     * @param scratch a file to write the assembly to; removed again
     * @throws KilnException naming the directive
     */
    void check(Path scratch) {
        CommandLines lines = new CommandLines(project);
        try {
            Result result = ProcessRunner.run(Command.ofLine(lines.assembly(unit, lines.relative(scratch)))
                    .in(project.directory())
                    .with("LC_ALL", "C")
                    .without(Compilation.MISLEADING)
                    .within(LIMIT));
            if (result.succeeded()) {
                Matcher directive =
                        DIRECTIVE.matcher(new String(Files.readAllBytes(scratch), StandardCharsets.ISO_8859_1));
                if (directive.find()) {
                    throw refused("the assembler directive " + directive.group());
                }
            }
            Files.deleteIfExists(scratch);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot use " + scratch, e);
        }
    }

    /**
     * Holds the files that a compilation read against those that it may read: the project's, and headers.
     *
     * @param files as the compiler listed them
     * @throws KilnException naming the first one that is neither
     */
    void checkIncluded(Collection<String> files) {
        for (String file : files) {
            boolean isInside = project.directory().resolve(file).normalize().startsWith(project.directory());
            if (!isInside && !file.endsWith(".h")) {
                throw refused("reading " + file);
            }
        }
    }

    private KilnException refused(String what) {
        return new KilnException(new Problem(
                "refused in firmware for a board from a repository: " + what,
                unit.path(),
                "no file of this computer in the image",
                "If you trust who wrote " + project.board().id() + ": <trustBoard>"
                        + project.board().id() + "</trustBoard>"));
    }
}
