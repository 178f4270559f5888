// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.elf;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.LazyList;
import io.kiln.base.elf.ElfFile.Section;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

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

    /**
     * What an object file says of how it was compiled: the attributes of the whole file in {@code .ARM.attributes} (Addenda to, and Errata in,
     * the ABI for the Arm Architecture, 2) and {@code .riscv.attributes} (RISC-V ELF psABI specification, Attributes).
     *
     * @param numbers values by tag; a tag that is absent has the value 0
     * @param texts values by tag
     */
    public record BuildAttributes(Map<Integer, Long> numbers, Map<Integer, String> texts) {
        private static final int TYPE = 0x70000003;
        private static final int EM_ARM = 40;
        private static final int FORMAT = 'A';
        private static final int WHOLE_FILE = 1;
        private static final int ARM_COMPATIBILITY = 32;
        private static final int ARM_LAST_SPECIAL = 32;
        private static final int ARM_RAW_NAME = 4;
        private static final int ARM_NAME = 5;
        private static final int MOST_BYTES = 1 << 16;
        private static final int ULEB_BITS = 63;

        public BuildAttributes {
            numbers = Collections.unmodifiableMap(new TreeMap<>(numbers));
            texts = Collections.unmodifiableMap(new TreeMap<>(texts));
        }

        /**
         * Reads those of an object.
         *
         * @param name the object's name, for messages
         * @return empty if it has none
         * @throws KilnException if they are cut short or damaged
         */
        public static Optional<BuildAttributes> of(ElfFile elf, String name) {
            return elf.sections().stream()
                    .filter(section -> section.type() == TYPE)
                    .findFirst()
                    .map(section -> new Reader(elf, section, name).read());
        }

        /** The value of a tag; 0 if it is absent. */
        public int number(int tag) {
            return (int) Math.min(Integer.MAX_VALUE, numbers.getOrDefault(tag, 0L));
        }

        /** Reads a section; every length is checked against what holds it. */
        private static final class Reader {
            private final ByteBuffer in;
            private final boolean isArm;
            private final String name;
            private final Map<Integer, Long> numbers = new TreeMap<>();
            private final Map<Integer, String> texts = new TreeMap<>();

            Reader(ElfFile elf, Section section, String name) {
                this.isArm = elf.machine() == EM_ARM;
                this.name = name;
                if (section.size() > MOST_BYTES) {
                    throw broken("they have " + section.size() + " bytes");
                }
                this.in = elf.content()
                        .slice((int) section.offset(), (int) section.size())
                        .order(elf.content().order());
            }

            BuildAttributes read() {
                if (!in.hasRemaining() || in.get() != FORMAT) {
                    throw broken("their format is not A");
                }
                int end = in.limit();
                while (in.position() < end) {
                    int subsection = part(end, 0);
                    boolean isPublic = text(subsection).equals(isArm ? "aeabi" : "riscv");
                    while (in.position() < subsection) {
                        int start = in.position();
                        long scope = number(subsection);
                        int scoped = part(subsection, in.position() - start);
                        if (isPublic && scope == WHOLE_FILE) {
                            values(scoped);
                        }
                        in.position(scoped);
                    }
                }
                return new BuildAttributes(numbers, texts);
            }

            /** The end of a part whose length, with some bytes before it, comes next. */
            private int part(int end, int before) {
                if (end - in.position() < Integer.BYTES) {
                    throw broken("a length is cut short");
                }
                int start = in.position() - before;
                long length = Integer.toUnsignedLong(in.getInt());
                if (length < in.position() - start || length > end - start) {
                    throw broken("a part of " + length + " bytes is longer than what holds it");
                }
                return start + (int) length;
            }

            private void values(int end) {
                while (in.position() < end) {
                    long tag = number(end);
                    if (tag > Integer.MAX_VALUE) {
                        throw broken("a tag is too large");
                    }
                    if (isArm && tag == ARM_COMPATIBILITY) {
                        number(end);
                        text(end);
                    } else if (isText((int) tag)) {
                        texts.put((int) tag, text(end));
                    } else {
                        numbers.put((int) tag, number(end));
                    }
                }
            }

            private boolean isText(int tag) {
                boolean byParity = !isArm || tag > ARM_LAST_SPECIAL;
                return byParity ? tag % 2 == 1 : tag == ARM_RAW_NAME || tag == ARM_NAME;
            }

            private long number(int end) {
                long value = 0;
                for (int shift = 0; shift < ULEB_BITS && in.position() < end; shift += 7) {
                    int next = in.get();
                    value |= (long) (next & 0x7f) << shift;
                    if ((next & 0x80) == 0) {
                        return value;
                    }
                }
                throw broken("a number is cut short");
            }

            private String text(int end) {
                int start = in.position();
                while (in.position() < end) {
                    if (in.get() == 0) {
                        byte[] bytes = new byte[in.position() - 1 - start];
                        in.get(start, bytes);
                        return new String(bytes, StandardCharsets.ISO_8859_1);
                    }
                }
                throw broken("a text is not terminated");
            }

            private KilnException broken(String what) {
                int at = in == null ? 0 : in.position();
                return Failure.CODE.exception(
                        "the attributes of this object are damaged: " + what,
                        name + String.format(Locale.ROOT, ", byte %d of them", at),
                        "",
                        "Compile it again");
            }
        }
    }
}
