// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Problems;
import io.kiln.firmware.CodeFolder.Role;
import io.kiln.firmware.CodeLibrary;
import io.kiln.firmware.UserCode;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.Libc;
import io.kiln.toolchain.compiler.TargetOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The project's own code beside that in {@code src/main/c}, and how all of it is compiled.
 *
 * @param sources further folders that are compiled
 * @param includes folders that are searched for headers
 * @param defines macros, each {@code NAME} or {@code NAME=value}
 * @param arguments further arguments of the compiler
 * @param libc the C library
 * @param libraries code in artifacts
 */
public record CodeSpec(
        List<Path> sources,
        List<Path> includes,
        List<String> defines,
        List<String> arguments,
        Libc libc,
        List<CodeLibrary> libraries) {
    /** Only {@code src/main/c}. */
    public static final CodeSpec NONE = new CodeSpec(List.of(), List.of(), List.of(), List.of());

    /** A macro's name, its parameters if it has some, and its replacement. */
    private static final Pattern DEFINE =
            Pattern.compile("[A-Za-z_][A-Za-z0-9_]*(?:\\([A-Za-z0-9_, .]*\\))?(?:=.*)?", Pattern.DOTALL);

    public CodeSpec {
        sources = List.copyOf(sources);
        includes = List.copyOf(includes);
        defines = List.copyOf(defines);
        arguments = List.copyOf(arguments);
        libraries = List.copyOf(libraries);
    }

    /** Without a C library and artifacts. */
    public CodeSpec(List<Path> sources, List<Path> includes, List<String> defines, List<String> arguments) {
        this(sources, includes, defines, arguments, Libc.NONE, List.of());
    }

    /** The same with a C library. */
    public CodeSpec with(Libc library) {
        return new CodeSpec(sources, includes, defines, arguments, library, libraries);
    }

    /** The same with code in artifacts. */
    public CodeSpec with(List<CodeLibrary> artifacts) {
        return new CodeSpec(sources, includes, defines, arguments, libc, artifacts);
    }

    /**
     * The code, as the firmware takes it.
     *
     * @param board the board that it is compiled for
     */
    public UserCode of(Layout layout, Board board) {
        UserCode code = UserCode.of(Optional.of(layout.userSources()))
                .with(defines, arguments)
                .with(libc);
        for (Path folder : sources) {
            code = code.with(layout.project(), folder, Role.SOURCES);
        }
        for (Path folder : includes) {
            code = code.with(layout.project(), folder, Role.HEADERS);
        }
        String cpu = TargetOptions.parse(board.target()).cpu();
        for (CodeLibrary library : libraries) {
            code = library.addTo(code, cpu, layout.reports().resolve("libraries"));
        }
        return code;
    }

    /** Finds malformed macros. Folders need not exist before the sources are assembled. */
    public void check(Problems problems) {
        defines.stream()
                .filter(define -> !DEFINE.matcher(define).matches())
                .forEach(define -> problems.add(
                        "'" + define + "' is not a macro", "kiln.define", "NAME or NAME=value", "Correct it"));
    }
}
