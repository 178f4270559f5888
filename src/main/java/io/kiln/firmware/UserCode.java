// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.firmware.CodeFolder.Role;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The user's own code and how it is compiled. Nothing of it is checked against an allow-list: whoever builds it wrote it.
 *
 * @param folders where it lies; headers are searched in this order
 * @param flags how it is compiled
 */
public record UserCode(List<CodeFolder> folders, CodeFlags flags) {
    public static final UserCode NONE = new UserCode(List.of(), CodeFlags.NONE);

    public UserCode {
        folders = List.copyOf(folders);
    }

    /** The code in a project's {@code src/main/c}, which need not exist. */
    public static UserCode of(Path main, CodeFlags flags) {
        return new UserCode(List.of(new CodeFolder(main, ProjectFiles.USER, "src/main/c", Role.MAIN)), flags);
    }

    /** The code in a project's {@code src/main/c}, compiled without flags. */
    public static UserCode of(Path main) {
        return of(main, CodeFlags.NONE);
    }

    public UserCode with(CodeFolder folder) {
        List<CodeFolder> all = new ArrayList<>(folders);
        all.add(folder);
        return new UserCode(all, flags);
    }

    /**
     * The same code with a folder that the user names. It is named after its place in the project, or after itself if it lies
     * elsewhere.
     *
     * @param project the project's folder
     * @param role {@link Role#SOURCES} or {@link Role#HEADERS}
     */
    public UserCode with(Path project, Path folder, Role role) {
        Path path = folder.toAbsolutePath().normalize();
        Path root = project.toAbsolutePath().normalize();
        String name = String.valueOf(path.getFileName()).replaceAll("[^A-Za-z0-9_.+-]", "_");
        String origin = path.startsWith(root) && !path.equals(root)
                ? root.relativize(path).toString().replace('\\', '/')
                : name;
        return with(new CodeFolder(path, free(role.name().toLowerCase(Locale.ROOT) + "/" + name), origin, role));
    }

    /** The same code with the unit tests in a folder. */
    public UserCode withTests(Path folder) {
        return with(new CodeFolder(folder, "test", "src/test/c", Role.TESTS));
    }

    /** The code of {@code src/main/c} alone. The headers of other folders are still found. */
    public UserCode withoutHardware() {
        List<CodeFolder> kept = folders.stream()
                .filter(folder -> folder.role().isSearched())
                .map(folder -> folder.role() == Role.MAIN
                        ? folder
                        : new CodeFolder(folder.path(), folder.copy(), folder.origin(), Role.HEADERS))
                .toList();
        return new UserCode(kept, flags);
    }

    /** Whether any of it is C++. */
    public boolean hasCplusplus() {
        return folders.stream().anyMatch(folder -> hasCplusplus(folder.path()));
    }

    private static boolean hasCplusplus(Path folder) {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (Stream<Path> files = Files.walk(folder, FileVisitOption.FOLLOW_LINKS)) {
            return files.anyMatch(file -> UserFile.isCplusplus(file.toString()));
        } catch (IOException | UncheckedIOException e) {
            // Whoever reads the folder says what is wrong with it.
            return false;
        }
    }

    /** Whether it is a program of unit tests. */
    boolean hasTests() {
        return folders.stream().anyMatch(folder -> folder.role() == Role.TESTS);
    }

    /** A place in the C project that no other folder has. */
    private String free(String wanted) {
        String place = wanted;
        for (int n = 2; isTaken(place); n++) {
            place = wanted + "-" + n;
        }
        return place;
    }

    private boolean isTaken(String place) {
        return folders.stream().anyMatch(folder -> folder.copy().equals(place));
    }

    /** The folder that a file of the C project is from; empty for files of others. */
    public Optional<CodeFolder> folderOf(String file) {
        return folders.stream().filter(folder -> folder.holds(file)).findFirst();
    }

    /**
     * How the user's own code is compiled.
     *
     * @param defines macros, each {@code NAME} or {@code NAME=value}
     * @param arguments further arguments of the compiler
     * @param libc the C library, which the toolchain has to link
     * @param forDebugger whether each line keeps its place and each variable its value, for a debugger
     */
    public record CodeFlags(List<String> defines, List<String> arguments, Libc libc, boolean forDebugger) {
        /** No flags, and no C library. */
        public static final CodeFlags NONE = new CodeFlags(List.of(), List.of(), Libc.NONE, false);

        private static final List<String> FOR_DEBUGGER = List.of("-Og", "-g3");

        private static final Pattern STANDARD = Pattern.compile("-std=.*");
        private static final Pattern STANDARD_OF_CPLUSPLUS = Pattern.compile("-std=(?:c|gnu)\\+\\+.*");

        public CodeFlags {
            defines = List.copyOf(defines);
            arguments = List.copyOf(arguments);
        }

        /** The flags for sources in C and assembler, or for C++. A language standard applies to its language only. */
        List<String> of(boolean isCplusplus) {
            List<String> flags = new ArrayList<>(forDebugger ? FOR_DEBUGGER : List.of());
            defines.forEach(define -> flags.add("-D" + define));
            arguments.stream()
                    .filter(argument -> !STANDARD.matcher(argument).matches()
                            || STANDARD_OF_CPLUSPLUS.matcher(argument).matches() == isCplusplus)
                    .forEach(flags::add);
            return flags;
        }
    }
}
