// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Sections, segments and symbols of an ELF file of 32 or 64 bits, either byte order (System V ABI, chapters 4 and 5).
 *
 * @param content the whole file
 * @param machine {@code e_machine}
 * @param entry address of the first instruction
 * @param sections in the order of the section header table
 * @param segments in the order of the program header table
 * @param symbols of the symbol table; empty if it was stripped
 */
public record ElfFile(
        ByteBuffer content,
        int machine,
        long entry,
        List<Section> sections,
        List<Segment> segments,
        List<Symbol> symbols) {
    public ElfFile {
        sections = List.copyOf(sections);
        segments = List.copyOf(segments);
        symbols = List.copyOf(symbols);
    }

    /** A section; addresses and sizes in bytes. */
    public record Section(String name, int type, long flags, long address, long offset, long size, int link) {
        private static final int NOBITS = 8;
        private static final int NOTE = 7;
        private static final long WRITE = 1;
        private static final long ALLOC = 2;
        private static final long EXECINSTR = 4;

        /** Whether it takes memory while the image runs. */
        public boolean isAllocated() {
            return (flags & ALLOC) != 0 && size > 0;
        }

        public boolean isWritable() {
            return (flags & WRITE) != 0;
        }

        public boolean isExecutable() {
            return (flags & EXECINSTR) != 0;
        }

        /** Whether it has content in the file. */
        public boolean hasContent() {
            return type != NOBITS;
        }

        boolean isNote() {
            return type == NOTE;
        }

        boolean contains(long other) {
            return other >= address && other < address + size;
        }
    }

    /** A program header. */
    public record Segment(
            int type, long offset, long virtualAddress, long physicalAddress, long fileSize, long memorySize) {
        private static final int LOAD = 1;

        public boolean isLoaded() {
            return type == LOAD;
        }
    }

    /** A symbol; {@code section} is an index into the sections, or 0 or a reserved number if it has none. */
    public record Symbol(String name, long value, long size, int type, int section) {
        private static final int OBJECT = 1;
        private static final int FUNCTION = 2;

        public boolean isObject() {
            return type == OBJECT;
        }

        public boolean isFunction() {
            return type == FUNCTION;
        }
    }

    /** Whether the file begins as ELF files do. */
    public static boolean isElf(Path file) {
        try (var in = Files.newInputStream(file)) {
            byte[] magic = in.readNBytes(4);
            return magic.length == 4 && magic[0] == 0x7f && magic[1] == 'E' && magic[2] == 'L' && magic[3] == 'F';
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Reads a file.
     *
     * @throws KilnException if it cannot be read or is not a whole ELF file
     */
    public static ElfFile read(Path file) {
        try {
            return new ElfReader(ByteBuffer.wrap(Files.readAllBytes(file))).read();
        } catch (IOException e) {
            throw new KilnException(new Problem("cannot be read", file.toString(), "an ELF file", ""), e);
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new KilnException(new Problem("this is not a whole ELF file", file.toString(), "an image", ""), e);
        }
    }

    /** Value of the first symbol of this name. */
    public Optional<Long> symbolValue(String name) {
        return symbols.stream()
                .filter(symbol -> symbol.name().equals(name))
                .map(Symbol::value)
                .findFirst();
    }

    /** Bytes of a section that has content. */
    public byte[] bytes(Section section) {
        byte[] bytes = new byte[Math.toIntExact(section.size())];
        content.get(Math.toIntExact(section.offset()), bytes);
        return bytes;
    }

    /** Where a section's content lies before the image runs: in flash, even if it is copied to RAM. */
    public long loadAddress(Section section) {
        for (Segment segment : segments) {
            long inside = section.address() - segment.virtualAddress();
            boolean there = section.hasContent()
                    ? section.offset() >= segment.offset()
                            && section.offset() + section.size() <= segment.offset() + segment.fileSize()
                    : inside + section.size() <= segment.memorySize();
            if (segment.isLoaded() && inside >= 0 && there) {
                return segment.physicalAddress() + inside;
            }
        }
        return section.address();
    }

    /** Reads the tables; every access is bounds-checked by the buffer. */
    private static final class ElfReader {
        private static final int SYMTAB = 2;
        private static final int MAX_SYMBOLS = 10_000_000;

        private final ByteBuffer in;
        private final boolean wide;

        ElfReader(ByteBuffer in) {
            this.in = in;
            if (in.getInt(0) != 0x7f454c46) {
                throw new IllegalArgumentException("no ELF magic");
            }
            this.wide = in.get(4) == 2;
            in.order(in.get(5) == 2 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        }

        ElfFile read() {
            long entry = word(24, 24);
            List<Segment> segments = new ArrayList<>();
            for (int i = 0; i < half(44, 56); i++) {
                segments.add(segment(index(word(28, 32)) + i * half(42, 54)));
            }
            int table = index(word(32, 40));
            int size = half(46, 58);
            int count = half(48, 60);
            int names = count == 0 ? 0 : index(word(table + half(50, 62) * size, 16, 24));
            List<Section> sections = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                sections.add(section(table + i * size, names));
            }
            return new ElfFile(in, in.getShort(18) & 0xffff, entry, sections, segments, symbols(sections));
        }

        private Segment segment(int at) {
            return wide
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
        }

        private Section section(int at, int names) {
            return new Section(
                    text(Math.addExact(names, in.getInt(at))),
                    in.getInt(at + 4),
                    word(at, 8, 8),
                    word(at, 12, 16),
                    word(at, 16, 24),
                    word(at, 20, 32),
                    in.getInt(at + (wide ? 40 : 24)));
        }

        private List<Symbol> symbols(List<Section> sections) {
            List<Symbol> symbols = new ArrayList<>();
            for (Section section : sections) {
                if (section.type() == SYMTAB) {
                    int names = index(sections.get(section.link()).offset());
                    int step = wide ? 24 : 16;
                    int count = (int) Math.min(MAX_SYMBOLS, section.size() / step);
                    for (int i = 0; i < count; i++) {
                        symbols.add(symbol(index(section.offset()) + i * step, names));
                    }
                }
            }
            return symbols;
        }

        private Symbol symbol(int at, int names) {
            String name = text(Math.addExact(names, in.getInt(at)));
            return wide
                    ? new Symbol(
                            name,
                            in.getLong(at + 8),
                            in.getLong(at + 16),
                            in.get(at + 4) & 15,
                            in.getShort(at + 6) & 0xffff)
                    : new Symbol(
                            name,
                            unsigned(at + 4),
                            unsigned(at + 8),
                            in.get(at + 12) & 15,
                            in.getShort(at + 14) & 0xffff);
        }

        private String text(int at) {
            int end = at;
            while (in.get(end) != 0) {
                end++;
            }
            byte[] bytes = new byte[end - at];
            in.get(at, bytes);
            return new String(bytes, StandardCharsets.UTF_8);
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

        private static int index(long value) {
            if (value < 0 || value > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("offset " + value);
            }
            return (int) value;
        }
    }
}
