// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Problems;
import io.kiln.firmware.CodeFolder.Role;
import io.kiln.firmware.CodeLibrary;
import io.kiln.firmware.OwnParts;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.UserCode.CodeFlags;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.TargetOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The project's own code beside that in {@code src/main/c}, and how all of it is compiled.
 *
 * @param sources further folders that are compiled
 * @param includes folders that are searched for headers
 * @param flags how all of it is compiled
 * @param libraries code in artifacts
 * @param own what it has in place of the board's
 */
public record CodeSpec(
        List<Path> sources, List<Path> includes, CodeFlags flags, List<CodeLibrary> libraries, OwnParts own) {
    /** No code but that in {@code src/main/c}. */
    public static final CodeSpec NONE = new CodeSpec(List.of(), List.of(), CodeFlags.NONE, List.of(), OwnParts.NONE);

    /** A macro's name, its parameters if it has some, and its replacement. */
    private static final Pattern DEFINE =
            Pattern.compile("[A-Za-z_][A-Za-z0-9_]*(?:\\([A-Za-z0-9_, .]*\\))?(?:=.*)?", Pattern.DOTALL);

    public CodeSpec {
        sources = List.copyOf(sources);
        includes = List.copyOf(includes);
        libraries = List.copyOf(libraries);
    }

    /**
     * The code, as the firmware takes it.
     *
     * @param board the board that it is compiled for
     */
    public UserCode of(Layout layout, Board board) {
        UserCode code = UserCode.of(layout.userSources(), flags);
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

    /** Whether any of it is C++; code in artifacts, which is not looked at yet, may be. */
    public boolean mayHaveCplusplus(Layout layout, Board board) {
        return !libraries.isEmpty() || of(layout, board).hasCplusplus();
    }

    public CodeSpec with(OwnParts other) {
        return new CodeSpec(sources, includes, flags, libraries, other);
    }

    /** Finds malformed macros. Folders need not exist before the sources are assembled. */
    public void check(Problems problems) {
        flags.defines().stream()
                .filter(define -> !DEFINE.matcher(define).matches())
                .forEach(define -> problems.add(
                        "'" + define + "' is not a macro", "kiln.define", "NAME or NAME=value", "Correct it"));
    }
}
