// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.elf;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.LazyList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Sections, segments and symbols of an ELF file of 32 or 64 bits, either byte order (System V ABI, chapters 4 and 5).
 *
 * @param content the whole file
 * @param machine {@code e_machine}
 * @param entry address of the first instruction
 * @param sections in the order of the section header table
 * @param segments in the order of the program header table
 * @param symbols of the symbol table; empty if it was stripped
 * @param dynamicSymbols those that a loader sees; empty if nothing is linked dynamically
 */
public record ElfFile(
        ByteBuffer content,
        int machine,
        long entry,
        List<Section> sections,
        List<Segment> segments,
        List<Symbol> symbols,
        List<Symbol> dynamicSymbols) {
    private static final long LARGEST = 256L << 20;

    /** Divisor of the heap that gives the largest image: a build holds several copies of an image at once. */
    private static final int HEAP_SHARE = 6;

    public ElfFile {
        sections = List.copyOf(sections);
        segments = List.copyOf(segments);
        symbols = LazyList.copyOf(symbols);
        dynamicSymbols = LazyList.copyOf(dynamicSymbols);
    }

    /** A section; addresses and sizes in bytes. */
    public record Section(String name, int type, long flags, long address, long offset, long size, int link) {
        private static final int NULL = 0;
        private static final int NOBITS = 8;
        private static final int NOTE = 7;
        private static final long WRITE = 1;
        private static final long ALLOC = 2;
        private static final long EXECINSTR = 4;

        /** Whether it occupies memory while the image runs. */
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
            return type != NOBITS && type != NULL;
        }

        Section named(String other) {
            return new Section(other, type, flags, address, offset, size, link);
        }

        /** Whether it describes the file and is not needed to run it. */
        public boolean isNote() {
            return type == NOTE;
        }

        /** Whether an address lies in it. */
        public boolean contains(long other) {
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

    /** A symbol; {@code section} is an index into the sections, or 0 or a reserved number if it has none. {@code binding} is 0 for a local symbol. */
    public record Symbol(String name, long value, long size, int type, int section, int binding) {
        private static final int OBJECT = 1;
        private static final int FUNCTION = 2;

        /** Whether other files can use what this file defines by that name. */
        public boolean isExported() {
            return isExported(section, binding);
        }

        static boolean isExported(int section, int binding) {
            return section != 0 && binding != 0;
        }

        /** The type in {@code st_info}. */
        static int type(int info) {
            return info & 15;
        }

        /** The binding in {@code st_info}. */
        static int binding(int info) {
            return info >> 4 & 15;
        }

        public boolean isObject() {
            return type == OBJECT;
        }

        public boolean isFunction() {
            return isFunction(type);
        }

        static boolean isFunction(int type) {
            return type == FUNCTION;
        }
    }

    /** Whether the file begins with ELF's magic number. */
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
     * @throws KilnException if it cannot be read, or with the offset of the first error in it
     */
    public static ElfFile read(Path file) {
        try {
            long size = Files.size(file);
            long most = Math.min(LARGEST, Runtime.getRuntime().maxMemory() / HEAP_SHARE);
            if (size > most) {
                throw Failure.CODE.exception(
                        "the file has " + size + " bytes", file.toString(), "an image of up to " + most);
            }
            return new ElfReader(file.toString(), ByteBuffer.wrap(Files.readAllBytes(file))).read();
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /**
     * Reads the bytes of a file.
     *
     * @param name the file's name, for messages
     * @throws KilnException with the offset of the first error in it
     */
    public static ElfFile read(Bytes file, String name) {
        return new ElfReader(name, file.buffer()).read();
    }

    /**
     * The bytes that a loaded file has at an address, as far as the file holds them.
     *
     * @return empty if the address and that many bytes behind it are not in one section with content
     */
    public Optional<ByteBuffer> at(long address, long size) {
        return sections.stream()
                .filter(section -> section.isAllocated()
                        && section.hasContent()
                        && section.contains(address)
                        && size >= 0
                        && size <= section.size() - (address - section.address()))
                .findFirst()
                .map(section -> content.slice(
                                Math.toIntExact(section.offset() + address - section.address()), Math.toIntExact(size))
                        .order(content.order()));
    }

    /** The first symbol that other programs can use and whose name ends in a text. */
    public Optional<Symbol> exportedEndingIn(String suffix) {
        return dynamicSymbols instanceof ElfSymbols inFile
                ? inFile.exportedEndingIn(suffix)
                : dynamicSymbols.stream()
                        .filter(symbol -> symbol.isExported() && symbol.name().endsWith(suffix))
                        .findFirst();
    }

    /**
     * Names of the functions that other programs can call, sorted, each once.
     *
     * @param without names that are left out
     */
    public List<String> exportedFunctions(Set<String> without) {
        return dynamicSymbols instanceof ElfSymbols inFile
                ? inFile.exportedFunctions(without)
                : dynamicSymbols.stream()
                        .filter(symbol -> symbol.isExported() && symbol.isFunction())
                        .map(Symbol::name)
                        .filter(name -> !without.contains(name))
                        .distinct()
                        .sorted()
                        .toList();
    }

    /** Value of the first symbol of this name that is defined; a weak one that nothing defines is in the table, too, with 0. */
    public Optional<Long> symbolValue(String name) {
        return symbols.stream()
                .filter(symbol -> symbol.name().equals(name) && symbol.section() != 0)
                .map(Symbol::value)
                .findFirst();
    }

    /** Bytes of a section with content. */
    public byte[] bytes(Section section) {
        byte[] bytes = new byte[Math.toIntExact(section.size())];
        content.get(Math.toIntExact(section.offset()), bytes);
        return bytes;
    }

    /** Address of a section's content before the image runs: in flash, even if it is copied to RAM. */
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
}
