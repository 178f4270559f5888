// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** ELF files that consist of exported functions with short names: a header, the names, the symbols, three section headers. */
final class DenseLibrary {
    private static final int STRTAB = 3;
    private static final int DYNSYM = 11;
    private static final int FUNCTION = 0x12;
    private static final int NAME_BYTES = 5;

    private final boolean isWide;
    private final ByteBuffer out;

    private DenseLibrary(boolean isWide, int bytes) {
        this.isWide = isWide;
        this.out = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * A library.
     *
     * @param isWide whether it has 64 bits
     * @param isSame whether all functions have one name
     * @param functions their number
     */
    static Bytes of(boolean isWide, boolean isSame, int functions) {
        int header = isWide ? 64 : 52;
        int symbol = isWide ? 24 : 16;
        int names = NAME_BYTES * functions;
        int sections = header + names + symbol * functions;
        DenseLibrary library = new DenseLibrary(isWide, sections + 3 * (isWide ? 64 : 40));
        library.header(sections);
        for (int i = 0; i < functions; i++) {
            library.out.put(
                    (Integer.toString(50_000 + i, Character.MAX_RADIX) + "\0").getBytes(StandardCharsets.US_ASCII),
                    0,
                    4);
            library.out.put((byte) 0);
        }
        for (int i = 0; i < functions; i++) {
            library.symbol(isSame ? 0 : NAME_BYTES * i);
        }
        library.section(0, 0, 0, 0);
        library.section(STRTAB, header, names, 0);
        library.section(DYNSYM, header + names, symbol * functions, symbol);
        return Bytes.wrap(library.out.array());
    }

    private void header(int sections) {
        out.put(new byte[] {0x7f, 'E', 'L', 'F', (byte) (isWide ? 2 : 1), 1, 1}).position(16);
        out.putShort((short) 3).putShort((short) 62).putInt(1);
        word(0);
        word(0);
        word(sections);
        out.putInt(0).putShort((short) (isWide ? 64 : 52)).putShort((short) 0).putShort((short) 0);
        out.putShort((short) (isWide ? 64 : 40)).putShort((short) 3).putShort((short) 0);
    }

    private void symbol(int name) {
        out.putInt(name);
        if (isWide) {
            out.put((byte) FUNCTION)
                    .put((byte) 0)
                    .putShort((short) 1)
                    .putLong(0)
                    .putLong(0);
        } else {
            out.putInt(0).putInt(0).put((byte) FUNCTION).put((byte) 0).putShort((short) 1);
        }
    }

    private void section(int type, int offset, int size, int entry) {
        out.putInt(0).putInt(type);
        word(0);
        word(0);
        word(offset);
        word(size);
        out.putInt(entry == 0 ? 0 : 1).putInt(0);
        word(0);
        word(entry);
    }

    private void word(long value) {
        if (isWide) {
            out.putLong(value);
        } else {
            out.putInt((int) value);
        }
    }
}
