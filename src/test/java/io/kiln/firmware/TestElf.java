// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A small image written by hand: {@code .text} of 16 bytes at 0x8000, {@code .data} of 8 bytes at 0x20000000, {@code .bss} of 64 bytes behind
 * it, and a symbol in each of the first two.
 */
public final class TestElf {
    private static final byte[] SECTION_NAMES =
            "\0.text\0.data\0.bss\0.symtab\0.strtab\0.shstrtab\0".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NAMES = "\0main\0table\0".getBytes(StandardCharsets.US_ASCII);
    private static final int SECTIONS = 7;

    private final boolean wide;
    private final ByteBuffer out;

    private TestElf(boolean wide, ByteOrder order) {
        this.wide = wide;
        this.out = ByteBuffer.allocate(2048).order(order);
    }

    /** The image; 64 bits if it is to be wide. */
    public static byte[] bytes(boolean wide, ByteOrder order) {
        return new TestElf(wide, order).build();
    }

    private byte[] build() {
        int text = wide ? 64 + 56 : 52 + 32;
        int data = text + 16;
        int names = data + 8;
        int sectionNames = names + NAMES.length;
        int symbols = sectionNames + SECTION_NAMES.length;
        int headers = symbols + 3 * symbolBytes();
        header(headers);
        segment(text);
        out.position(text + 24);
        out.put(NAMES).put(SECTION_NAMES);
        symbol(0, 0, 0, 0, 0);
        symbol(1, 0x8000, 16, 2, 1);
        symbol(6, 0x20000000, 8, 1, 2);
        section(0, 0, 0, 0, 0, 0, 0, 0);
        section(1, 1, 6, 0x8000, text, 16, 0, 0);
        section(7, 1, 3, 0x20000000, data, 8, 0, 0);
        section(13, 8, 3, 0x20000008, names, 64, 0, 0);
        section(18, 2, 0, 0, symbols, 3 * symbolBytes(), 5, symbolBytes());
        section(26, 3, 0, 0, names, NAMES.length, 0, 0);
        section(34, 3, 0, 0, sectionNames, SECTION_NAMES.length, 0, 0);
        byte[] file = new byte[out.position()];
        out.get(0, file);
        return file;
    }

    private void header(int sections) {
        out.put(new byte[] {0x7f, 'E', 'L', 'F', (byte) (wide ? 2 : 1)});
        out.put((byte) (out.order() == ByteOrder.BIG_ENDIAN ? 2 : 1)).put((byte) 1);
        out.position(16);
        out.putShort((short) 2).putShort((short) 40).putInt(1);
        word(0x8000);
        word(wide ? 64 : 52);
        word(sections);
        out.putInt(0).putShort((short) (wide ? 64 : 52));
        out.putShort((short) (wide ? 56 : 32)).putShort((short) 1);
        out.putShort((short) (wide ? 64 : 40)).putShort((short) SECTIONS).putShort((short) (SECTIONS - 1));
    }

    private void segment(int text) {
        out.putInt(1);
        if (wide) {
            out.putInt(5);
        }
        word(text);
        word(0x8000);
        word(0x8000);
        word(16);
        word(16);
        if (!wide) {
            out.putInt(5);
        }
        word(4);
    }

    private void section(int name, int type, int flags, int address, int offset, int size, int link, int entry) {
        out.putInt(name).putInt(type);
        word(flags);
        word(address);
        word(offset);
        word(size);
        out.putInt(link).putInt(0);
        word(4);
        word(entry);
    }

    private void symbol(int name, int value, int size, int type, int section) {
        out.putInt(name);
        if (wide) {
            out.put((byte) type).put((byte) 0).putShort((short) section);
            word(value);
            word(size);
        } else {
            out.putInt(value).putInt(size).put((byte) type).put((byte) 0).putShort((short) section);
        }
    }

    private int symbolBytes() {
        return wide ? 24 : 16;
    }

    private void word(int value) {
        if (wide) {
            out.putLong(value);
        } else {
            out.putInt(value);
        }
    }
}
