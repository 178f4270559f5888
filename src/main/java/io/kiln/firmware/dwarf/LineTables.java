// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.dwarf;

import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
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

    /** Runs a line number program (DWARF 5, section 6.2.5), which produces rows of addresses and lines. Every opcode takes at least one byte. */
    private static final class LineProgram {
        private static final int EXTENDED = 0;
        private static final int COPY = 1;
        private static final int ADVANCE_PC = 2;
        private static final int ADVANCE_LINE = 3;
        private static final int SET_FILE = 4;
        private static final int CONST_ADD_PC = 8;
        private static final int FIXED_ADVANCE_PC = 9;
        private static final int END_SEQUENCE = 1;
        private static final int SET_ADDRESS = 2;
        private static final int LAST_OPCODE = 255;

        private final ByteBuffer in;
        private final LineHeader header;
        private final int firstSpecial;

        private long address;
        private long file;
        private long line;
        private boolean inSequence;
        private long start;
        private long rowAddress;
        private long rowFile;
        private long rowLine;

        private long wanted;
        private Found found = Found.NOTHING;

        LineProgram(ByteBuffer unit, LineHeader header) {
            this.in = unit.position(header.program());
            this.header = header;
            this.firstSpecial = header.operands().size() + 1;
        }

        /** The row that covers an address. */
        Found find(long searched) {
            wanted = searched;
            begin();
            while (in.hasRemaining()) {
                int opcode = in.get() & 0xff;
                if (opcode >= firstSpecial) {
                    special(opcode);
                    row();
                } else if (opcode == EXTENDED) {
                    extended();
                } else {
                    standard(opcode);
                }
            }
            return found;
        }

        private void begin() {
            address = 0;
            file = 1;
            line = 1;
            inSequence = false;
        }

        private void special(int opcode) {
            int adjusted = opcode - firstSpecial;
            address += (long) (adjusted / header.lineRange()) * header.instructionBytes();
            line += header.lineBase() + adjusted % header.lineRange();
        }

        private void extended() {
            long length = Forms.Leb128.unsigned(in);
            if (length == 0) {
                return;
            }
            int opcode = in.get() & 0xff;
            if (opcode == END_SEQUENCE) {
                row();
                begin();
                Forms.forward(in, length - 1);
            } else if (opcode == SET_ADDRESS && length == 5) {
                address = Integer.toUnsignedLong(in.getInt());
            } else if (opcode == SET_ADDRESS && length == 9) {
                address = in.getLong();
            } else {
                Forms.forward(in, length - 1);
            }
        }

        private void standard(int opcode) {
            switch (opcode) {
                case COPY -> row();
                case ADVANCE_PC -> address += Forms.Leb128.unsigned(in) * header.instructionBytes();
                case ADVANCE_LINE -> line += Forms.Leb128.signed(in);
                case SET_FILE -> file = Forms.Leb128.unsigned(in);
                case CONST_ADD_PC ->
                    address += (long) ((LAST_OPCODE - firstSpecial) / header.lineRange()) * header.instructionBytes();
                case FIXED_ADVANCE_PC -> address += in.getShort() & 0xffff;
                default -> {
                    for (int i = 0; i < header.operands().get(opcode - 1); i++) {
                        Forms.Leb128.unsigned(in);
                    }
                }
            }
        }

        /** Closes the previous row, which extends up to this one. */
        private void row() {
            if (!inSequence) {
                inSequence = true;
                start = address;
            } else if (rowAddress <= wanted && wanted < address && start > found.start()) {
                found = new Found(start, source());
            }
            rowAddress = address;
            rowFile = file;
            rowLine = line;
        }

        private Optional<SourceLine> source() {
            boolean isKnown = rowFile >= 0 && rowFile < header.files().size() && rowLine > 0;
            return isKnown ? Optional.of(new SourceLine(header.files().get((int) rowFile), rowLine)) : Optional.empty();
        }
    }

    /**
     * The head of a line table (DWARF 5, section 6.2.4; DWARF 4, the same).
     *
     * @param program offset of the line number program in the unit
     * @param instructionBytes factor of all address advances
     * @param lineBase smallest line advance of a special opcode
     * @param lineRange number of such advances
     * @param operands number of operands of each standard opcode; its size is the first special opcode less 1
     * @param files names with folders, by number; number 0 exists in every version
     */
    private record LineHeader(
            int program,
            int instructionBytes,
            int lineBase,
            int lineRange,
            List<Integer> operands,
            List<String> files) {
        private static final int FIRST_VERSION = 2;
        private static final int LAST_VERSION = 5;
        private static final int MOST_FILES = 8192;
        private static final int CONTENT_PATH = 1;
        private static final int CONTENT_FOLDER = 2;

        LineHeader {
            operands = List.copyOf(operands);
            files = List.copyOf(files);
        }

        /**
         * Reads a header.
         *
         * @param unit starting at its version
         * @throws IllegalArgumentException or BufferUnderflowException if it is damaged, or of a kind that no compiler
         * emits for an image
         */
        static LineHeader read(ByteBuffer unit, Strings strings) {
            int version = unit.getShort() & 0xffff;
            check(version >= FIRST_VERSION && version <= LAST_VERSION, "version");
            if (version == LAST_VERSION) {
                unit.getShort(); // size of addresses and of segment selectors
            }
            long length = Integer.toUnsignedLong(unit.getInt());
            check(length <= unit.remaining(), "header length");
            int program = unit.position() + (int) length;
            int instructionBytes = unit.get() & 0xff;
            if (version >= 4) {
                unit.get(); // operations in an instruction: 1 on these cores
            }
            unit.get(); // whether rows are statements to begin with
            int lineBase = unit.get();
            int lineRange = unit.get() & 0xff;
            check(lineRange != 0, "line range");
            int firstSpecial = unit.get() & 0xff;
            List<Integer> operands = new ArrayList<>();
            for (int opcode = 1; opcode < firstSpecial; opcode++) {
                operands.add(unit.get() & 0xff);
            }
            List<String> files = version == LAST_VERSION ? newFiles(unit, strings) : oldFiles(unit);
            return new LineHeader(program, instructionBytes, lineBase, lineRange, operands, files);
        }

        private static void check(boolean isGood, String what) {
            if (!isGood) {
                throw new IllegalArgumentException(what);
            }
        }

        private static List<String> oldFiles(ByteBuffer unit) {
            List<String> folders = new ArrayList<>(List.of(""));
            for (String folder = Strings.next(unit); !folder.isEmpty(); folder = Strings.next(unit)) {
                folders.add(folder);
            }
            List<String> files = new ArrayList<>(List.of(""));
            for (String name = Strings.next(unit); !name.isEmpty(); name = Strings.next(unit)) {
                check(files.size() <= MOST_FILES, "number of files");
                files.add(path(folders, Forms.Leb128.unsigned(unit), name));
                Forms.Leb128.unsigned(unit); // time
                Forms.Leb128.unsigned(unit); // length
            }
            return files;
        }

        private static List<String> newFiles(ByteBuffer unit, Strings strings) {
            List<String> folders = new ArrayList<>();
            for (Entry entry : entries(unit, strings)) {
                // Number 0 is the compiler's working folder, to which names of files are relative anyway.
                folders.add(folders.isEmpty() ? "" : entry.path());
            }
            List<String> files = new ArrayList<>();
            for (Entry entry : entries(unit, strings)) {
                files.add(path(folders, entry.folder(), entry.path()));
            }
            return files;
        }

        private static String path(List<String> folders, long folder, String name) {
            boolean hasFolder = folder > 0 && folder < folders.size() && !name.startsWith("/");
            return hasFolder ? folders.get((int) folder) + "/" + name : name;
        }

        /** A row of a table of folders or of files. */
        private record Entry(String path, long folder) {}

        private static List<Entry> entries(ByteBuffer unit, Strings strings) {
            int formats = unit.get() & 0xff;
            long[] format = new long[2 * formats];
            for (int i = 0; i < format.length; i++) {
                format[i] = Forms.Leb128.unsigned(unit);
            }
            long count = Forms.Leb128.unsigned(unit);
            check(count == 0 || (formats > 0 && count > 0 && count <= MOST_FILES), "number of files");
            List<Entry> entries = new ArrayList<>();
            for (long i = 0; i < count; i++) {
                String path = "";
                long folder = 0;
                for (int k = 0; k < format.length; k += 2) {
                    if (format[k] == CONTENT_PATH) {
                        path = Forms.text(unit, format[k + 1], strings);
                    } else if (format[k] == CONTENT_FOLDER) {
                        folder = Forms.number(unit, format[k + 1]);
                    } else {
                        Forms.skip(unit, format[k + 1]);
                    }
                }
                entries.add(new Entry(path, folder));
            }
            return entries;
        }
    }

    /**
     * A position in a source.
     *
     * @param file as the compiler recorded it, with its folder if the table has one
     * @param line from 1
     */
    public record SourceLine(String file, long line) {
        /** {@code file:line}, as editors open it. */
        public String text() {
            return file + ":" + line;
        }
    }

    /** Values in the forms used by line tables (DWARF 5, section 7.5.6). Each takes at least one byte, so reading always ends. */
    private static final class Forms {
        private static final int DATA2 = 0x05;
        private static final int DATA4 = 0x06;
        private static final int DATA8 = 0x07;
        private static final int STRING = 0x08;
        private static final int BLOCK = 0x09;
        private static final int DATA1 = 0x0b;
        private static final int STRP = 0x0e;
        private static final int UDATA = 0x0f;
        private static final int DATA16 = 0x1e;
        private static final int LINE_STRP = 0x1f;

        private Forms() {}

        static String text(ByteBuffer in, long form, Strings strings) {
            return switch ((int) form) {
                case STRING -> Strings.next(in);
                case STRP -> Strings.at(strings.others(), Integer.toUnsignedLong(in.getInt()));
                case LINE_STRP -> Strings.at(strings.lines(), Integer.toUnsignedLong(in.getInt()));
                default -> throw new IllegalArgumentException("form " + form + " of a text");
            };
        }

        static long number(ByteBuffer in, long form) {
            return switch ((int) form) {
                case DATA1 -> in.get() & 0xff;
                case DATA2 -> in.getShort() & 0xffff;
                case DATA4 -> Integer.toUnsignedLong(in.getInt());
                case DATA8 -> in.getLong();
                case UDATA -> Leb128.unsigned(in);
                default -> throw new IllegalArgumentException("form " + form + " of a number");
            };
        }

        static void skip(ByteBuffer in, long form) {
            switch ((int) form) {
                case STRING -> Strings.next(in);
                case STRP, LINE_STRP -> in.getInt();
                case DATA16 -> forward(in, 16);
                case BLOCK -> forward(in, Leb128.unsigned(in));
                default -> number(in, form);
            }
        }

        static void forward(ByteBuffer in, long bytes) {
            if (bytes < 0 || bytes > in.remaining()) {
                throw new BufferUnderflowException();
            }
            in.position(in.position() + (int) bytes);
        }

        /** Numbers of variable length, LEB128 (DWARF 5, section 7.6), of at most 64 bits. */
        static final class Leb128 {
            private static final int MOST_BITS = 63;

            private Leb128() {}

            static long unsigned(ByteBuffer in) {
                return read(in, false);
            }

            static long signed(ByteBuffer in) {
                return read(in, true);
            }

            private static long read(ByteBuffer in, boolean isSigned) {
                long value = 0;
                int shift = 0;
                byte next;
                do {
                    next = in.get();
                    value |= shifted(next & 0x7f, shift);
                    shift += 7;
                } while (next < 0);
                return isSigned && (next & 0x40) != 0 && shift <= MOST_BITS ? value | -1L << shift : value;
            }

            /** Shifts bits to their place in the number; bits beyond 64 are dropped. */
            private static long shifted(int bits, int shift) {
                return shift > MOST_BITS ? 0 : (long) bits << shift;
            }
        }
    }

    /**
     * Strings that line tables refer to.
     *
     * @param lines section {@code .debug_line_str}
     * @param others section {@code .debug_str}
     */
    private record Strings(ByteBuffer lines, ByteBuffer others) {
        private static final int LONGEST = 1024;

        static String at(ByteBuffer section, long offset) {
            if (offset >= section.capacity()) {
                throw new BufferUnderflowException();
            }
            return next(section.duplicate().position((int) offset));
        }

        /** The string at the buffer's position; the position moves behind its terminating zero. */
        static String next(ByteBuffer in) {
            int start = in.position();
            while (in.get() != 0) {
                if (in.position() - start > LONGEST) {
                    throw new IllegalArgumentException("a name of more than " + LONGEST + " bytes");
                }
            }
            byte[] bytes = new byte[in.position() - 1 - start];
            in.get(start, bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }
}
