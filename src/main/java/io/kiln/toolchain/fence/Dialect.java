// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** The differences between code for a board and code for this computer. */
public enum Dialect {
    /** Images of boards: the assembler is part of the compiler, and there is no loader or C library that calls functions by name. */
    BOARD(
            true,
            false,
            Pattern.compile(
                    "[._]?[A-Za-z][A-Za-z0-9_]{0,62}|\\.(?:text|rodata|data|bss|noinit)(?:\\.[A-Za-z0-9_]{1,62}){1,4}")),

    /**
     * Executables for this computer. Its assembler is a program that reads text, its loader runs functions named by
     * some sections, and its C library's headers rename symbols: so instructions are refused, only the sections that
     * archives use are allowed, and renaming is allowed.
     */
    HOST(
            false,
            true,
            Pattern.compile(
                    "\\.(?:rodata|data|bss|bss\\.noinit)\\.tvm(?:\\.[a-z0-9_]{1,62})?|\\.rodata\\.kiln\\.near"));

    /** Sections to which loaders, linkers or C libraries give a meaning. */
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

    /** Sections that debuggers read, or follow to other files. */
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

    /** Whether assembly statements are allowed. */
    boolean hasInstructions() {
        return instructions;
    }

    /** Whether a declaration may rename its symbol. */
    boolean hasNames() {
        return names;
    }

    /** Why a section's name is refused; empty if it is allowed. */
    Optional<String> sectionRefusal(String name) {
        boolean isFine = sections.matcher(name).matches()
                && !RESERVED.contains(name.replaceFirst("^\\.", ""))
                && !DEBUG.matcher(name).matches();
        return isFine ? Optional.empty() : Optional.of("the section " + Refusals.shown(name));
    }
}
