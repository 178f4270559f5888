// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.toolchain.compiler.CompilerDriver;
import io.kiln.toolchain.compiler.Libc;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.fence.Dialect;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * A compiler that can be fenced. The bundled clang preprocesses for both: for itself, whose assembler and linker are exactly known, and
 * for this computer's compiler, for the board {@code host}. GNU cross compilers cannot be fenced: their assembler
 * concatenates strings, has macros and exists in many versions, and their linker runs plug-ins.
 */
sealed interface FencedToolchain {
    /** Driver and flags for preprocessing. */
    List<String> preprocessing(SourceUnit unit);

    /** Extra flags for compiling preprocessed text. */
    List<String> compiling(SourceUnit unit);

    /** Whether a source may read a file, given as the compiler names it. */
    boolean mayRead(String file);

    Dialect dialect();

    /** The fenced toolchain of a project with untrusted files. */
    static FencedToolchain of(FirmwareProject project) {
        CommandLines lines = new CommandLines(project);
        if (!project.toolchain().isHost()) {
            return new Bundled(
                    project,
                    lines,
                    ClosedWorld.write(project, project.toolchain().home().orElseThrow()));
        }
        CompilerDriver.Preprocessor clang = project.toolchain()
                .driver()
                .preprocessor()
                .orElseThrow(() -> new IllegalStateException("no clang for untrusted code"));
        return new OnHost(lines, clang, ClosedWorld.write(project, clang.home()), HostMacros.of(project, lines));
    }

    /**
     * Checks that a project can be fenced, before anything is compiled.
     *
     * @throws KilnException with what to trust, or which toolchain to choose
     */
    static void check(FirmwareProject project) {
        Problems problems = new Problems(Failure.TRUST);
        Toolchain toolchain = project.toolchain();
        List<String> advice = project.strangers().advice();
        if (toolchain.isHost() && !isSealable()) {
            advice.forEach(each -> problems.add(refused(
                    "untrusted code compiled for this computer",
                    "board " + project.board().id(),
                    "Linux on x86-64 or aarch64, where it can run in a sandbox",
                    each)));
        } else if (project.code().flags().libc() != Libc.NONE && !toolchain.isHost()) {
            advice.forEach(each -> problems.add(refused(
                    "untrusted code beside a C library, whose headers are not the project's",
                    "kiln.libc",
                    Libc.NONE.text(),
                    each)));
        } else if (!toolchain.isHost() && !isBundledClang(toolchain)) {
            List<String> all = advice.isEmpty() && project.board().foreign()
                    ? List.of(project.board().trustAdvice())
                    : advice;
            all.forEach(each -> problems.add(refused(
                    "the toolchain " + toolchain.id() + " cannot compile untrusted code",
                    "kiln.toolchain",
                    "the bundled clang",
                    each)));
        }
        problems.throwIfAny();
    }

    private static Problem refused(String what, String where, String expected, String advice) {
        return Failure.TRUST.problem("refused: " + what, where, expected, advice);
    }

    private static boolean isBundledClang(Toolchain toolchain) {
        return toolchain.home().isPresent()
                && toolchain.shims()
                && toolchain.version().contains("clang");
    }

    /** Whether this computer is one whose system calls the board's {@code fence.c} knows. */
    private static boolean isSealable() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        return system.equals("linux") && List.of("amd64", "x86_64", "aarch64").contains(machine);
    }

    /** Keeps clang from writing a source that crashes it, and a script, to the folder for temporary files. */
    String NO_REPRODUCER = "-fno-crash-diagnostics";

    /** The bundled clang. */
    record Bundled(FirmwareProject project, CommandLines lines, ClosedWorld world) implements FencedToolchain {
        @Override
        public List<String> preprocessing(SourceUnit unit) {
            List<String> line = new ArrayList<>();
            line.add(project.toolchain().compiler());
            line.addAll(lines.compileFlags(unit.kind(), project.directory().toString()));
            line.addAll(world.withFiles());
            line.add(NO_REPRODUCER);
            return line;
        }

        /** Flags for text from standard input, which has no name: debug information gets the source's. */
        @Override
        public List<String> compiling(SourceUnit unit) {
            return Stream.concat(
                            world.withNothing().stream(),
                            Stream.of(
                                    NO_REPRODUCER,
                                    "-Qunused-arguments",
                                    "-Xclang",
                                    "-main-file-name",
                                    "-Xclang",
                                    unit.path()))
                    .toList();
        }

        @Override
        public boolean mayRead(String file) {
            return world.contains(file);
        }

        @Override
        public Dialect dialect() {
            return Dialect.BOARD;
        }
    }

    /**
     * This computer's own compiler. Clang preprocesses for it with that compiler's macros, and with headers of the C library that only declare
     * functions and types of the standard: the headers of the system have what other compilers do not understand.
     */
    record OnHost(CommandLines lines, CompilerDriver.Preprocessor clang, ClosedWorld world, HostMacros macros)
            implements FencedToolchain {
        @Override
        public List<String> preprocessing(SourceUnit unit) {
            List<String> line = new ArrayList<>();
            line.addAll(List.of(clang.command(), NO_REPRODUCER, "-w", "-undef", "-nostdlibinc"));
            lines.otherFlags(unit.kind()).stream()
                    .filter(flag -> flag.startsWith("-std=") || flag.startsWith("-ffile-prefix-map="))
                    .forEach(line::add);
            line.add(withoutHome());
            line.addAll(macros.options(unit));
            line.addAll(lines.namingFlags(unit.kind()));
            line.addAll(List.of("-isystem", ProjectFiles.SHIMS + "/include"));
            line.addAll(world.withFiles());
            return line;
        }

        @Override
        public List<String> compiling(SourceUnit unit) {
            return List.of("-fno-lto", withoutHome());
        }

        private String withoutHome() {
            return "-ffile-prefix-map=" + clang.home() + "=clang";
        }

        @Override
        public boolean mayRead(String file) {
            return world.contains(file);
        }

        @Override
        public Dialect dialect() {
            return Dialect.HOST;
        }
    }
}
