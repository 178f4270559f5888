// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import io.kiln.toolchain.compiler.SourceKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The macros that this computer's compiler predefines, for each kind of source. Clang gets them in place of its own, so that a source is
 * preprocessed as that compiler would do it: the same types have the same sizes, and nothing in a source is meant for clang.
 */
final class HostMacros {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** GCC and Clang print macros in the same format. */
    private static final Pattern MACRO = Pattern.compile("#define ([A-Za-z_][A-Za-z0-9_]*(?:\\([^)]*\\))?) ?(.*)");

    /** Operators of the preprocessor, which clang has itself. */
    private static final Pattern OPERATOR = Pattern.compile("__has_.*|defined.*");

    private final Map<Language, List<String>> options;

    private HostMacros(Map<Language, List<String>> options) {
        this.options = options;
    }

    /** What macros depend on beside the compiler: the kind of a source, which has flags, and the language that its name tells. */
    private record Language(SourceKind kind, String name) {
        static Language of(SourceUnit unit) {
            if (unit.path().endsWith(".c")) {
                return new Language(unit.kind(), "c");
            }
            return new Language(unit.kind(), UserFile.isCplusplus(unit.path()) ? "c++" : "assembler-with-cpp");
        }
    }

    /**
     * Asks the compiler for the macros of a project's sources.
     *
     * @throws KilnException if the compiler fails
     */
    static HostMacros of(FirmwareProject project, CommandLines lines) {
        Map<Language, List<String>> options = new HashMap<>();
        project.units()
                .forEach(unit ->
                        options.computeIfAbsent(Language.of(unit), language -> parse(print(project, lines, language))));
        return new HostMacros(options);
    }

    /** Options that define the macros for a source. */
    List<String> options(SourceUnit unit) {
        return options.get(Language.of(unit));
    }

    private static String print(FirmwareProject project, CommandLines lines, Language language) {
        List<String> line = new ArrayList<>();
        line.add(project.toolchain().compiler());
        line.addAll(lines.otherFlags(language.kind()));
        line.addAll(List.of("-x", language.name(), "-E", "-dM", "-"));
        ProcessResult result = ProcessRunner.run(Command.ofLine(line)
                .in(project.directory())
                .without(Compilation.MISLEADING)
                .within(LIMIT));
        if (!result.succeeded()) {
            throw new KilnException(Failure.TOOL.problem(
                    "the compiler does not print its macros: " + result.message(),
                    project.toolchain().compiler()));
        }
        return result.output();
    }

    private static List<String> parse(String text) {
        List<String> options = new ArrayList<>();
        for (String line : text.lines().toList()) {
            Matcher macro = MACRO.matcher(line);
            if (macro.matches() && !OPERATOR.matcher(macro.group(1)).matches()) {
                options.add("-D" + macro.group(1) + "=" + macro.group(2));
            }
        }
        return List.copyOf(options);
    }
}
