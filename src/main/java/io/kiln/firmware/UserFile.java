// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Classifies a file among the project's own sources by its name. */
enum UserFile {
    /** C, C++ or assembler. */
    COMPILED,
    /** A static library. */
    LIBRARY,
    /** A header, which sources include. */
    HEADER,
    /** A document for people. */
    PAPER,
    /** Left by editors and version control. */
    LEFTOVER,
    /** Anything else: accepted only if a source reads it. */
    OTHER;

    private static final Set<String> CPLUSPLUS_SUFFIXES = Set.of("cpp", "cc", "cxx", "c++");
    private static final Set<String> COMPILED_SUFFIXES = Set.of("c", "S", "s", "cpp", "cc", "cxx", "c++");
    private static final Set<String> HEADER_SUFFIXES =
            Set.of("h", "inc", "def", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "inl");
    private static final Set<String> PAPER_SUFFIXES = Set.of("md", "txt", "adoc", "rst");
    private static final Set<String> PAPERS =
            Set.of("readme", "license", "licence", "copying", "notice", "authors", "changelog", "changes", "todo");
    private static final Set<String> LEFTOVER_SUFFIXES = Set.of("swp", "swo", "bak", "orig", "rej", "tmp");
    private static final Set<String> LEFTOVERS = Set.of("thumbs.db", "desktop.ini");
    private static final Set<String> ODD_CPLUSPLUS = Set.of("cp", "C", "CPP", "ii", "ixx", "cppm");
    private static final Set<String> BINARIES = Set.of("o", "obj", "lib", "so", "dll", "elf", "lo", "bc");
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
        if (suffix.equals("a")) {
            return LIBRARY;
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

    /** Whether a file name, with or without folders, is of a source in C++. */
    static boolean isCplusplus(String name) {
        return CPLUSPLUS_SUFFIXES.contains(suffix(name));
    }

    /** Advice for a file that is not accepted. */
    static String advice(String name) {
        String suffix = suffix(name);
        if (ODD_CPLUSPLUS.contains(suffix)) {
            return "Name C++ .cpp, .cc or .cxx";
        }
        if (suffix.equals("H")) {
            return "Name it .hpp, .hh or .h";
        }
        if (BINARIES.contains(suffix)) {
            return "Only static libraries are linked, lib<name>.a: put it into one, or its sources here";
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
