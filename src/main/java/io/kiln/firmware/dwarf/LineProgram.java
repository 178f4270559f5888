// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.dwarf;

import io.kiln.firmware.dwarf.LineTables.Found;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Runs a line number program (DWARF 5, section 6.2.5), which produces rows of addresses and lines. Every opcode takes
 * at least one byte.
 */
final class LineProgram {
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
        long length = Leb128.unsigned(in);
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
            case ADVANCE_PC -> address += Leb128.unsigned(in) * header.instructionBytes();
            case ADVANCE_LINE -> line += Leb128.signed(in);
            case SET_FILE -> file = Leb128.unsigned(in);
            case CONST_ADD_PC ->
                address += (long) ((LAST_OPCODE - firstSpecial) / header.lineRange()) * header.instructionBytes();
            case FIXED_ADVANCE_PC -> address += in.getShort() & 0xffff;
            default -> {
                for (int i = 0; i < header.operands().get(opcode - 1); i++) {
                    Leb128.unsigned(in);
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
