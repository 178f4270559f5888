// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.dwarf;

import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The line tables of an image: section {@code .debug_line} of DWARF 2 to 5, 32-bit format, as written by GCC and clang.
 * For any content, a lookup takes time proportional to the section's size.
 */
public final class LineTables {
    private static final long DWARF_64 = 0xffffffffL;

    private final ByteBuffer lines;
    private final Strings strings;

    private LineTables(ByteBuffer lines, Strings strings) {
        this.lines = lines;
        this.strings = strings;
    }

    /** The line tables of an image; empty if it has no debug information, or damaged sections. */
    public static LineTables of(ElfFile elf) {
        Strings strings = new Strings(section(elf, ".debug_line_str"), section(elf, ".debug_str"));
        return new LineTables(section(elf, ".debug_line"), strings);
    }

    private static ByteBuffer section(ElfFile elf, String name) {
        Optional<Section> section = elf.sections().stream()
                .filter(each -> each.name().equals(name) && each.hasContent())
                .filter(each -> each.offset() >= 0
                        && each.size() >= 0
                        && each.offset() <= elf.content().capacity()
                        && each.size() <= elf.content().capacity() - each.offset())
                .findFirst();
        int at = section.map(each -> (int) each.offset()).orElse(0);
        int size = section.map(each -> (int) each.size()).orElse(0);
        return elf.content()
                .duplicate()
                .clear()
                .slice(at, size)
                .order(elf.content().order());
    }

    /**
     * The source line of an instruction.
     *
     * @param address of the instruction, or of a byte inside it
     */
    public Optional<SourceLine> at(long address) {
        Found best = Found.NOTHING;
        ByteBuffer rest = lines.duplicate().order(lines.order());
        while (rest.remaining() > 4) {
            long length = Integer.toUnsignedLong(rest.getInt());
            if (length == DWARF_64 || length > rest.remaining()) {
                break;
            }
            ByteBuffer unit = rest.slice(rest.position(), (int) length).order(lines.order());
            rest.position(rest.position() + (int) length);
            best = best.better(inUnit(unit, address));
        }
        return best.line();
    }

    private Found inUnit(ByteBuffer unit, long address) {
        try {
            LineHeader header = LineHeader.read(unit, strings);
            return new LineProgram(unit, header).find(address);
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            // A damaged table is skipped; others may have the line.
            return Found.NOTHING;
        }
    }

    /**
     * A unit's entry for an address. Code discarded by the linker keeps its lines, at addresses from 0 on, which
     * may overlap other code: the sequence that starts closest to the address is the right one.
     *
     * @param start start address of the sequence
     * @param line the line, if there is one
     */
    record Found(long start, Optional<SourceLine> line) {
        static final Found NOTHING = new Found(-1, Optional.empty());

        Found better(Found other) {
            return other.start > start ? other : this;
        }
    }
}
