// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.base.elf.ElfFile.Symbol;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Checks an executable with untrusted code for anything that would run before the sandbox is active. A loader runs
 * functions named by some sections, and resolver functions that choose others; and a function exported by an executable
 * replaces a library's, also for the loader. None of these may occur in untrusted code, so that its first code to run
 * is a model called by main.
 */
final class HostSymbols {
    private static final int DYNAMIC_SYMBOLS = 11;
    private static final int INDIRECT_FUNCTION = 10;

    /** Sections that compilers emit for C without attributes. */
    private static final Pattern SECTIONS =
            Pattern.compile("(?:\\.rela?)?\\.(?:text|rodata|data|bss|tdata|tbss|eh_frame|debug_"
                    + "|comment|note|symtab|strtab|shstrtab|group|llvm_addrsig).*|");

    /** Symbols that a C library's start-up files call, some before all constructors, without exporting them to a library. */
    private static final Pattern START_UP =
            Pattern.compile("__gmon_start__|__libc_.*|_dl_.*|_ITM_.*|_init|_fini|_start");

    private HostSymbols() {}

    /** Reasons to refuse the object of an untrusted source. */
    static List<String> refusals(ElfFile object) {
        List<String> refused = new ArrayList<>();
        for (Section section : object.sections()) {
            if (!SECTIONS.matcher(section.name()).matches()) {
                refused.add("the section " + section.name());
            }
        }
        for (Symbol symbol : object.symbols()) {
            if (symbol.type() == INDIRECT_FUNCTION) {
                refused.add("a function chosen at load time: " + symbol.name());
            } else if (symbol.section() != 0 && START_UP.matcher(symbol.name()).matches()) {
                refused.add("a function or variable used by start-up files: " + symbol.name());
            }
        }
        return refused;
    }

    /**
     * Checks a linked executable against its objects.
     *
     * @throws KilnException naming each function or variable of an object that replaces a library's
     */
    static void check(CompiledObjects objects, Path image) {
        Set<String> own = new HashSet<>();
        for (Path file : objects.inLinkOrder()) {
            ElfFile.read(file).symbols().stream()
                    .filter(symbol -> symbol.section() != 0)
                    .forEach(symbol -> own.add(symbol.name()));
        }
        Problems problems = new Problems(Failure.CODE);
        for (String name : exportedNames(ElfFile.read(image))) {
            if (own.contains(name)) {
                String advice = String.join(" ", objects.project().strangers().advice());
                problems.add(
                        "refused together with untrusted code: " + name
                                + " replaces a library's before the sandbox is active",
                        image.getFileName().toString(),
                        "",
                        advice);
            }
        }
        problems.throwIfAny();
    }

    /** The names that an executable exports to its libraries; all of its names if it is statically linked. */
    private static Set<String> exportedNames(ElfFile image) {
        boolean isDynamic = image.sections().stream().anyMatch(section -> section.type() == DYNAMIC_SYMBOLS);
        return (isDynamic ? image.dynamicSymbols() : image.symbols())
                .stream()
                        .filter(symbol -> !isDynamic || symbol.section() != 0)
                        .map(ElfFile.Symbol::name)
                        .collect(Collectors.toSet());
    }
}
