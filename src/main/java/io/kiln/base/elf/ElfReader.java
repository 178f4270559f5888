// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.elf;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.base.elf.ElfFile.Segment;
import io.kiln.base.elf.ElfFile.Symbol;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Reads the tables of an ELF file. Every offset, size, index and count is checked before it is used, so that a broken
 * file is refused quickly, with the place of the error and without much memory.
 */
final class ElfReader {
    private static final int MAGIC = 0x7f454c46;
    private static final int SYMTAB = 2;
    private static final int STRTAB = 3;
    private static final int DYNSYM = 11;

    /** Most sections, a generous limit: each section is compared with each segment and each symbol. */
    private static final int MAX_SECTIONS = 8192;

    private static final int MAX_SEGMENTS = 256;
    private static final int MAX_SYMBOLS = 250_000;

    /** Bytes by which all names together may exceed the file. Names share tables, but hardly overlap. */
    private static final long MORE_NAME_BYTES = 64L << 10;

    /** Most bytes of a section's name, since sections keep their names, unlike symbols. */
    private static final int MOST_SECTION_NAME_BYTES = 16 << 10;

    /** Largest size that is accepted: more than any memory has, and sums of such sizes still fit into a long. */
    private static final long MAX_SIZE = 1L << 40;

    private final String file;
    private final ByteBuffer in;
    private final boolean wide;
    private long nameBytes;

    /**
     * Reads the header of a file.
     *
     * @param file the file's name, for messages
     * @param in its content
     * @throws KilnException if it does not begin with an ELF header
     */
    ElfReader(String file, ByteBuffer in) {
        this.file = file;
        this.in = in.order(ByteOrder.BIG_ENDIAN);
        if (in.limit() < 6 || in.getInt(0) != MAGIC) {
            throw broken("it does not begin with an ELF header", 0);
        }
        this.wide = oneOrTwo(4, "the class is neither 32 nor 64 bits") == 2;
        in.order(oneOrTwo(5, "the byte order is unknown") == 2 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        checkRange(0, wide ? 64 : 52, "the header", 0);
    }

    ElfFile read() {
        List<Segment> segments = new ArrayList<>();
        Table programs = table("program header", wide ? 32 : 28, wide ? 54 : 42, wide ? 56 : 32, MAX_SEGMENTS);
        for (int i = 0; i < programs.count(); i++) {
            segments.add(segment(programs.entry(i)));
        }
        List<Section> sections =
                sections(table("section header", wide ? 40 : 32, wide ? 58 : 46, wide ? 64 : 40, MAX_SECTIONS));
        return new ElfFile(
                in,
                in.getShort(18) & 0xffff,
                word(24, 24),
                sections,
                segments,
                symbols(sections, SYMTAB),
                symbols(sections, DYNSYM));
    }

    /** A table of the header: its offset, the size of an entry, and the number of entries. */
    private record Table(int start, int step, int count) {
        int entry(int index) {
            return start + index * step;
        }
    }

    /**
     * Reads the position of a table from the header.
     *
     * @param at offset in the header of the table's offset
     * @param sizes offset in the header of an entry's size, which the number of entries follows
     * @param least smallest size of an entry in bytes
     * @param most largest number of entries
     */
    private Table table(String name, int at, int sizes, int least, int most) {
        int step = in.getShort(sizes) & 0xffff;
        int count = in.getShort(sizes + 2) & 0xffff;
        if (count == 0) {
            return new Table(0, 0, 0);
        }
        if (step < least) {
            throw broken("a " + name + " has " + step + " bytes and needs " + least, sizes);
        }
        if (count > most) {
            throw broken("there are " + count + " " + name + "s, more than " + most, sizes + 2);
        }
        long start = word(at, at);
        checkRange(start, (long) step * count, "the table of " + name + "s", at);
        return new Table((int) start, step, count);
    }

    private Segment segment(int at) {
        Segment segment = wide
                ? new Segment(
                        in.getInt(at),
                        in.getLong(at + 8),
                        in.getLong(at + 16),
                        in.getLong(at + 24),
                        in.getLong(at + 32),
                        in.getLong(at + 40))
                : new Segment(
                        in.getInt(at),
                        unsigned(at + 4),
                        unsigned(at + 8),
                        unsigned(at + 12),
                        unsigned(at + 16),
                        unsigned(at + 20));
        if (segment.isLoaded()) {
            checkRange(segment.offset(), segment.fileSize(), "a segment", at);
            checkMemory(segment.virtualAddress(), segment.memorySize(), "a segment", at);
            checkMemory(segment.physicalAddress(), segment.memorySize(), "a segment", at);
        }
        return segment;
    }

    private List<Section> sections(Table table) {
        List<Section> unnamed = new ArrayList<>();
        for (int i = 0; i < table.count(); i++) {
            unnamed.add(section(table.entry(i)));
        }
        int index = half(50, 62);
        if (index == 0) {
            return unnamed;
        }
        Section names = stringTable(unnamed, index, wide ? 62 : 50);
        List<Section> sections = new ArrayList<>();
        for (int i = 0; i < table.count(); i++) {
            sections.add(unnamed.get(i).named(text(names, table.entry(i))));
        }
        return sections;
    }

    private Section section(int at) {
        Section section = new Section(
                "",
                in.getInt(at + 4),
                word(at, 8, 8),
                word(at, 12, 16),
                word(at, 16, 24),
                word(at, 20, 32),
                in.getInt(at + (wide ? 40 : 24)));
        if (section.hasContent()) {
            checkRange(section.offset(), section.size(), "a section", at);
        }
        if (section.isAllocated()) {
            checkMemory(section.address(), section.size(), "a section", at);
        }
        if ((section.type() == SYMTAB || section.type() == DYNSYM) && word(at, 36, 56) != symbolBytes()) {
            throw broken("a symbol has " + word(at, 36, 56) + " bytes, not " + symbolBytes(), at);
        }
        return section;
    }

    private Section stringTable(List<Section> sections, int index, int at) {
        if (index < 0 || index >= sections.size() || sections.get(index).type() != STRTAB) {
            throw broken("section " + index + " is not a table of strings", at);
        }
        return sections.get(index);
    }

    private List<Symbol> symbols(List<Section> sections, int type) {
        List<Section> tables =
                sections.stream().filter(section -> section.type() == type).toList();
        if (tables.isEmpty()) {
            return List.of();
        }
        Section table = tables.get(0);
        int start = (int) table.offset();
        if (tables.size() > 1) {
            throw broken("there are " + tables.size() + " tables of symbols", (int)
                    tables.get(1).offset());
        }
        if (table.size() % symbolBytes() != 0 || table.size() / symbolBytes() > MAX_SYMBOLS) {
            throw broken(
                    "the table of symbols has " + table.size() + " bytes, not up to " + MAX_SYMBOLS + " times "
                            + symbolBytes(),
                    start);
        }
        Section names = stringTable(sections, table.link(), start);
        for (int at = start; at < start + table.size(); at += symbolBytes()) {
            nameLength(names, at);
            long size = word(at, 8, 16);
            if (size < 0 || size > MAX_SIZE) {
                throw broken("a symbol is larger than any memory", at);
            }
        }
        return new ElfSymbols(in, wide, start, names, (int) (table.size() / symbolBytes()));
    }

    private int symbolBytes() {
        return ElfSymbols.bytes(wide);
    }

    /** The string whose table offset is stored at a place. */
    private String text(Section table, int at) {
        int length = nameLength(table, at);
        if (length > MOST_SECTION_NAME_BYTES) {
            throw broken("a name has " + length + " bytes, more than " + MOST_SECTION_NAME_BYTES, at);
        }
        byte[] bytes = new byte[length];
        in.get((int) (table.offset() + unsigned(at)), bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** The length of that string, which is checked. */
    private int nameLength(Section table, int at) {
        long offset = unsigned(at);
        if (offset == 0 && table.size() == 0) {
            return 0;
        }
        if (offset >= table.size()) {
            throw broken("a name lies at " + offset + " of a table of " + table.size() + " bytes", at);
        }
        int start = (int) (table.offset() + offset);
        int limit = (int) (table.offset() + table.size());
        int end = start;
        while (end < limit && in.get(end) != 0) {
            end++;
        }
        nameBytes += end - start;
        if (end == limit) {
            throw broken("a name is not terminated in its table", start);
        }
        if (nameBytes > in.limit() + MORE_NAME_BYTES) {
            throw broken("the names overlap and take more bytes than the file has", start);
        }
        return end - start;
    }

    private int oneOrTwo(int at, String what) {
        int value = in.get(at);
        if (value != 1 && value != 2) {
            throw broken(what, at);
        }
        return value;
    }

    /**
     * Checks that a range of bytes lies in the file.
     *
     * @param at place of the number in the file
     */
    private void checkRange(long start, long length, String what, int at) {
        if (start < 0 || length < 0 || start > in.limit() || length > in.limit() - start) {
            throw broken(
                    String.format(
                            Locale.ROOT,
                            "%s of %s bytes at 0x%x ends beyond the file, which has %d bytes",
                            what,
                            Long.toUnsignedString(length),
                            start,
                            in.limit()),
                    at);
        }
    }

    private void checkMemory(long address, long size, String what, int at) {
        if (size < 0 || size > MAX_SIZE || Long.compareUnsigned(address + size, address) < 0) {
            throw broken(what + " of " + Long.toUnsignedString(size) + " bytes is larger than any memory", at);
        }
    }

    private KilnException broken(String what, int at) {
        return Failure.CODE.exception(
                "this is not a whole ELF file: " + what,
                file + String.format(Locale.ROOT, ", offset 0x%x", at),
                "",
                "Build the image again");
    }

    private long word(int narrowAt, int wideAt) {
        return word(0, narrowAt, wideAt);
    }

    private long word(int base, int narrowAt, int wideAt) {
        return wide ? in.getLong(base + wideAt) : unsigned(base + narrowAt);
    }

    private int half(int narrowAt, int wideAt) {
        return in.getShort(wide ? wideAt : narrowAt) & 0xffff;
    }

    private long unsigned(int at) {
        return in.getInt(at) & 0xffffffffL;
    }
}
