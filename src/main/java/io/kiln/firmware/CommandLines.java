// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.firmware.CodeSupport.ArmIntrinsics;
import io.kiln.toolchain.compiler.SourceKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The only place that builds command lines: Maven, the makefile and {@code compile_commands.json} all use these
 * arguments. Paths are relative to the project, so that no host path gets into an image.
 */
record CommandLines(FirmwareProject project) {
    /** Preprocessor flags, whose value follows in the same or the next argument. */
    private static final List<String> NAMING =
            List.of("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-D", "-U");

    /** Assembly that is not preprocessed: clang would tell of each flag that is only for C. */
    private static final String ASSEMBLY = ".s";

    /**
     * Flags to compile sources of one kind.
     *
     * @param directory placeholder for the project's own path, which debug information must not contain
     */
    List<String> compileFlags(SourceKind kind, String directory) {
        List<String> flags = new ArrayList<>();
        if (kind == SourceKind.CPLUSPLUS && project.toolchain().isFreestandingCplusplus()) {
            flags.addAll(List.of("-isystem", CodeSupport.FREESTANDING));
        }
        flags.addAll(project.toolchain().compileFlags(kind, project.optimize()));
        project.board().building().compile().stream()
                .map(flag -> flag.startsWith("-I") ? "-I" + ProjectFiles.BOARD + "/" + flag.substring(2) : flag)
                .forEach(flags::add);
        flags.add("-ffile-prefix-map=" + directory + "=.");
        // GCC's cross compilers pass only this form to their assembler.
        flags.add("-fdebug-prefix-map=" + directory + "=.");
        project.code().folders().stream()
                .filter(folder -> isPresent(folder))
                .forEach(folder -> flags.add(UserNames.prefixMap(folder)));
        flags.addAll(project.includes());
        if (kind == SourceKind.FOREIGN && project.headers().contains(ArmIntrinsics.FILE)) {
            flags.addAll(List.of("-include", ArmIntrinsics.FILE));
        }
        if (kind.isUsers()) {
            flags.addAll(project.code().flags().of(kind == SourceKind.CPLUSPLUS));
        }
        return flags;
    }

    private boolean isPresent(CodeFolder folder) {
        return project.units().stream().anyMatch(unit -> folder.holds(unit.path()))
                || project.headers().stream().anyMatch(folder::holds);
    }

    /** A whole compiler command, driver first. */
    List<String> compile(SourceUnit unit, String source, String object, Optional<String> depFile) {
        List<String> line = new ArrayList<>();
        line.add(project.toolchain().compiler());
        line.addAll(compileFlags(unit.kind(), project.directory().toString()));
        if (unit.path().endsWith(ASSEMBLY)) {
            line.add("-Wno-unused-command-line-argument");
        }
        depFile.ifPresent(file -> line.addAll(List.of("-MD", "-MF", file, "-MT", "object")));
        line.addAll(List.of("-c", source, "-o", object));
        return line;
    }

    /**
     * The command that prints a preprocessed source, driver first.
     *
     * @param begin driver and flags
     * @param depFile gets the names of all files read
     */
    static List<String> preprocess(SourceUnit unit, List<String> begin, String depFile) {
        List<String> line = new ArrayList<>(begin);
        line.addAll(List.of("-MD", "-MF", depFile, "-MT", "object", "-E", unit.path(), "-o", "-"));
        return line;
    }

    /** The command that finds out which files a source includes when some of them do not exist, driver first. */
    static List<String> listIncludes(SourceUnit unit, List<String> begin, String depFile) {
        List<String> line = new ArrayList<>(begin);
        line.addAll(List.of("-M", "-MG", "-MF", depFile, "-MT", "object", unit.path()));
        return line;
    }

    /** The flags of a compilation that name files, folders or macros. */
    List<String> namingFlags(SourceKind kind) {
        return naming(kind, true);
    }

    /** The flags of a compilation but {@link #namingFlags}. */
    List<String> otherFlags(SourceKind kind) {
        return naming(kind, false);
    }

    private List<String> naming(SourceKind kind, boolean isWanted) {
        List<String> found = new ArrayList<>();
        Iterator<String> flags =
                compileFlags(kind, project.directory().toString()).iterator();
        while (flags.hasNext()) {
            String flag = flags.next();
            List<String> words = NAMING.contains(flag) ? List.of(flag, flags.next()) : List.of(flag);
            if (NAMING.stream().anyMatch(flag::startsWith) == isWanted) {
                found.addAll(words);
            }
        }
        return found;
    }

    /**
     * The command that compiles preprocessed text from standard input, driver first: the flags of a compilation without
     * those that name files, folders or macros. Warnings are not errors, because macros that would suppress them are
     * expanded.
     *
     * @param more flags appended to the others
     */
    List<String> compileText(SourceUnit unit, List<String> more, String object) {
        List<String> line = new ArrayList<>();
        line.add(project.toolchain().compiler());
        line.addAll(otherFlags(unit.kind()));
        line.add("-Wno-error");
        line.addAll(more);
        line.addAll(List.of("-x", "cpp-output", "-c", "-", "-o", object));
        return line;
    }

    /**
     * Flags of the link, without driver and file names.
     *
     * @param scripts folder of the linker script and of the scripts that it includes
     * @param linkerScript the linker script, if there is one
     */
    List<String> linkFlags(String scripts, Optional<String> linkerScript) {
        List<String> flags = new ArrayList<>(project.toolchain().link());
        flags.addAll(project.board().building().link());
        linkerScript.ifPresent(script -> flags.addAll(List.of("-L" + scripts, "-T", scripts + "/" + script)));
        return flags;
    }

    /** A whole linker command, driver first. */
    List<String> link(List<String> objects, String image, String map, String scripts, Optional<String> linkerScript) {
        List<String> line = new ArrayList<>();
        line.add(project.toolchain().compiler());
        line.addAll(linkFlags(scripts, linkerScript));
        line.add("-Wl,-Map=" + map);
        line.addAll(List.of("-o", image));
        line.addAll(objects);
        line.addAll(project.objects());
        line.addAll(libraries());
        return line;
    }

    /** The arguments after the objects of a link. The user's static libraries may need each other in any order. */
    List<String> libraries() {
        List<String> words = new ArrayList<>();
        if (!project.libraries().isEmpty()) {
            words.add("-Wl,--start-group");
            words.addAll(project.libraries());
            words.add("-Wl,--end-group");
        }
        words.addAll(project.toolchain().libraries());
        return words;
    }

    /** A path as used in command lines: relative to the project if they have a root in common. */
    String relative(Path path) {
        Path directory = project.directory();
        return directory.getRoot().equals(path.getRoot())
                ? directory.relativize(path).toString().replace('\\', '/')
                : path.toString();
    }
}
