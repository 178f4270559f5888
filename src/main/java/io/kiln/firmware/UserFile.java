// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Classifies a file among the project's own sources by its name. */
enum UserFile {
    /** C or assembler. */
    COMPILED,
    /** Included by sources. */
    HEADER,
    /** Documents for people. */
    PAPER,
    /** Left by editors and version control. */
    LEFTOVER,
    /** Anything else: accepted only if a source reads it. */
    OTHER;

    private static final Set<String> COMPILED_SUFFIXES = Set.of("c", "S", "s");
    private static final Set<String> HEADER_SUFFIXES = Set.of("h", "inc", "def");
    private static final Set<String> PAPER_SUFFIXES = Set.of("md", "txt", "adoc", "rst");
    private static final Set<String> PAPERS =
            Set.of("readme", "license", "licence", "copying", "notice", "authors", "changelog", "changes", "todo");
    private static final Set<String> LEFTOVER_SUFFIXES = Set.of("swp", "swo", "bak", "orig", "rej", "tmp");
    private static final Set<String> LEFTOVERS = Set.of("thumbs.db", "desktop.ini");
    private static final Set<String> CPLUSPLUS =
            Set.of("cpp", "cc", "cxx", "c++", "cp", "C", "CPP", "ii", "hpp", "hh", "hxx", "h++", "H", "ixx", "cppm");
    private static final Set<String> BINARIES = Set.of("a", "o", "obj", "lib", "so", "dll", "elf", "lo", "bc");
    private static final Set<String> ASSEMBLER = Set.of("asm", "sx", "ASM", "arm");
    private static final Set<String> SCRIPTS = Set.of("ld", "lds", "icf", "sct");
    private static final List<String> BUILD_FILES = List.of("cmakelists.txt", "makefile", "gnumakefile", "meson.build");

    /** The class of a file name without folder. */
    static UserFile of(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        String suffix = suffix(name);
        if (BUILD_FILES.contains(lower)) {
            return OTHER;
        }
        if (COMPILED_SUFFIXES.contains(suffix)) {
            return COMPILED;
        }
        if (HEADER_SUFFIXES.contains(suffix)) {
            return HEADER;
        }
        if (PAPER_SUFFIXES.contains(suffix.toLowerCase(Locale.ROOT)) || PAPERS.contains(lower)) {
            return PAPER;
        }
        boolean isBackup = name.endsWith("~") || (name.startsWith("#") && name.endsWith("#"));
        return isBackup || LEFTOVERS.contains(lower) || LEFTOVER_SUFFIXES.contains(suffix) ? LEFTOVER : OTHER;
    }

    /** Advice for a file that is not accepted. */
    static String advice(String name) {
        String suffix = suffix(name);
        if (CPLUSPLUS.contains(suffix)) {
            return "C++ is not supported: write it in C, in a .c file";
        }
        if (BINARIES.contains(suffix)) {
            return "Libraries and objects are not linked: put their sources here";
        }
        if (ASSEMBLER.contains(suffix)) {
            return "Name assembler .S, or .s if it needs no preprocessor";
        }
        if (SCRIPTS.contains(suffix)) {
            return "Linker scripts belong to a board: create your own with kiln:new-board";
        }
        return renamed(suffix)
                .map(to -> "Name it ." + to)
                .orElse("Remove it, or include it in a source if it belongs to one");
    }

    private static Optional<String> renamed(String suffix) {
        return switch (suffix) {
            case "I", "i" -> Optional.of("c");
            case "INC" -> Optional.of("inc");
            case "DEF" -> Optional.of("def");
            default -> Optional.empty();
        };
    }

    private static String suffix(String name) {
        int dot = name.lastIndexOf('.');
        return dot < 0 ? "" : name.substring(dot + 1);
    }
}
