// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.dwarf;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

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
record LineHeader(
        int program, int instructionBytes, int lineBase, int lineRange, List<Integer> operands, List<String> files) {
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
            files.add(path(folders, Leb128.unsigned(unit), name));
            Leb128.unsigned(unit); // time
            Leb128.unsigned(unit); // length
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
            format[i] = Leb128.unsigned(unit);
        }
        long count = Leb128.unsigned(unit);
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
