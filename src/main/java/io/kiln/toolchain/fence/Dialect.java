// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** What differs between code that runs on a board and code that runs on this computer. */
public enum Dialect {
    /** Images of boards: an assembler that is part of the compiler, no loader, no C library that calls anything. */
    BOARD(
            true,
            false,
            Pattern.compile(
                    "[._]?[A-Za-z][A-Za-z0-9_]{0,62}|\\.(?:text|rodata|data|bss|noinit)(?:\\.[A-Za-z0-9_]{1,62}){1,4}")),

    /**
     * Executables of this computer. Its assembler is a program that reads text, its loader runs what some sections name, and its C library's
     * headers give symbols other names: so no instructions and only the sections that archives use, but names.
     */
    HOST(false, true, Pattern.compile("\\.(?:rodata|data|bss|bss\\.noinit)\\.tvm"));

    /** Sections that loaders, linkers or C libraries act upon by their name. */
    private static final Set<String> RESERVED = Set.of(
            "init",
            "fini",
            "ctors",
            "dtors",
            "init_array",
            "fini_array",
            "preinit_array",
            "interp",
            "dynamic",
            "deplibs",
            "comment",
            "group",
            "symtab",
            "strtab",
            "shstrtab");

    /** What debuggers read, or follow to other files. */
    private static final Pattern DEBUG =
            Pattern.compile("\\.?_*(?:z?debug|gnu_debug|gdb_|stab(?:str)?$|ctf$|sframe$|dyn(?:sym|str)$).*");

    private final boolean instructions;
    private final boolean names;
    private final Pattern sections;

    Dialect(boolean instructions, boolean names, Pattern sections) {
        this.instructions = instructions;
        this.names = names;
        this.sections = sections;
    }

    /** Whether there are assembly statements. */
    boolean hasInstructions() {
        return instructions;
    }

    /** Whether a declaration may give its symbol another name. */
    boolean hasNames() {
        return names;
    }

    /** What is wrong with a section's name; empty if it is allowed. */
    Optional<String> sectionRefusal(String name) {
        boolean isFine = sections.matcher(name).matches()
                && !RESERVED.contains(name.replaceFirst("^\\.", ""))
                && !DEBUG.matcher(name).matches();
        return isFine ? Optional.empty() : Optional.of("the section " + Refusals.shown(name));
    }
}
