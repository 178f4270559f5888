// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.firmware.CodeFolder.Role;
import io.kiln.toolchain.compiler.Libc;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The user's own code and how it is compiled. Nothing of it is checked against an allow-list: whoever builds it wrote it.
 *
 * @param folders where it lies; headers are searched in this order
 * @param defines macros, each {@code NAME} or {@code NAME=value}
 * @param arguments further arguments of the compiler
 * @param libc the C library
 */
public record UserCode(List<CodeFolder> folders, List<String> defines, List<String> arguments, Libc libc) {
    /** No code. */
    public static final UserCode NONE = new UserCode(List.of(), List.of(), List.of(), Libc.NONE);

    private static final Pattern STANDARD = Pattern.compile("-std=.*");
    private static final Pattern STANDARD_OF_CPLUSPLUS = Pattern.compile("-std=(?:c|gnu)\\+\\+.*");

    public UserCode {
        folders = List.copyOf(folders);
        defines = List.copyOf(defines);
        arguments = List.copyOf(arguments);
    }

    /** The code in a project's {@code src/main/c}, which need not exist. */
    public static UserCode of(Optional<Path> main) {
        return main.map(path -> NONE.with(new CodeFolder(path, ProjectFiles.USER, "src/main/c", Role.MAIN)))
                .orElse(NONE);
    }

    /** The same with another folder. */
    public UserCode with(CodeFolder folder) {
        List<CodeFolder> all = new ArrayList<>(folders);
        all.add(folder);
        return new UserCode(all, defines, arguments, libc);
    }

    /**
     * The same with a folder that the user names. It is named after its place in the project, or after itself if it lies
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

    /** The same with macros and compiler arguments. */
    public UserCode with(List<String> newDefines, List<String> newArguments) {
        return new UserCode(folders, newDefines, newArguments, libc);
    }

    /** The same with a C library, which the toolchain has to link. */
    public UserCode with(Libc library) {
        return new UserCode(folders, defines, arguments, library);
    }

    /** A place that no other folder has. */
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
     * Flags of the user's own for sources in C and assembler, or for C++. A language standard applies to its language only.
     */
    List<String> flags(boolean isCplusplus) {
        List<String> flags = new ArrayList<>();
        defines.forEach(define -> flags.add("-D" + define));
        arguments.stream()
                .filter(argument -> !STANDARD.matcher(argument).matches()
                        || STANDARD_OF_CPLUSPLUS.matcher(argument).matches() == isCplusplus)
                .forEach(flags::add);
        return flags;
    }
}
