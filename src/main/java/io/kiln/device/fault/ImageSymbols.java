// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.fault;

import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.firmware.dwarf.LineTables;
import io.kiln.firmware.dwarf.LineTables.SourceLine;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Maps addresses of an image to names. */
record ImageSymbols(List<Symbol> functions, Optional<LineTables> lines) {
    /** The names in an ELF file; none if it is not an ELF file. */
    static ImageSymbols of(Path file) {
        try {
            if (ElfFile.isElf(file)) {
                ElfFile elf = ElfFile.read(file);
                return new ImageSymbols(
                        elf.symbols().stream().filter(Symbol::isFunction).toList(), Optional.of(LineTables.of(elf)));
            }
        } catch (KilnException e) {
            // The image's output is useful without names.
            return new ImageSymbols(List.of(), Optional.empty());
        }
        return new ImageSymbols(List.of(), Optional.empty());
    }

    /** {@code function (file:line)}, or the known part of it; the bare address if nothing is known. */
    String name(long address) {
        Optional<String> function = function(address);
        Optional<String> line = lines.flatMap(tables -> tables.at(address)).map(SourceLine::text);
        if (function.isEmpty() && line.isEmpty()) {
            return hex(address);
        }
        String place = line.map(text -> " (" + text + ")").orElse(" (" + hex(address) + ")");
        return function.orElse(hex(address)) + place;
    }

    /** Whether the address lies in the image's code. */
    boolean isCode(long address) {
        return function(address).isPresent();
    }

    private Optional<String> function(long address) {
        return functions.stream()
                .filter(symbol -> address >= (symbol.value() & ~1L) && address < (symbol.value() & ~1L) + symbol.size())
                .map(Symbol::name)
                .findFirst();
    }

    private static String hex(long address) {
        return String.format(Locale.ROOT, "0x%08x", address);
    }
}
