// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.dwarf;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/** Values in the forms used by line tables (DWARF 5, section 7.5.6). Each takes at least one byte, so reading always ends. */
final class Forms {
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

    /** Skips bytes. */
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
