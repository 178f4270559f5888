// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The global symbols that an ELF object defines (System V ABI, chapter 4: symbol table), of 32 or 64 bits, little-endian. A file that is none, or
 * is damaged, defines nothing: the linker says what is wrong with it.
 */
final class ObjectSymbols {
    private static final int MAGIC = 0x464C457F;
    private static final int CLASS_64 = 2;
    private static final int SYMBOL_TABLE = 2;
    private static final int LONGEST = 1000;
    private static final int LOCAL_LIMIT = 16;

    private final ByteBuffer bytes;
    private final boolean wide;

    private ObjectSymbols(ByteBuffer bytes) {
        this.bytes = bytes;
        this.wide = bytes.get(4) == CLASS_64;
    }

    static Set<String> defined(Bytes object) {
        ByteBuffer bytes = ByteBuffer.wrap(object.toArray()).order(ByteOrder.LITTLE_ENDIAN);
        try {
            return bytes.getInt(0) == MAGIC ? new ObjectSymbols(bytes).read() : Set.of();
        } catch (IndexOutOfBoundsException | ArithmeticException e) {
            return Set.of();
        }
    }

    private Set<String> read() {
        Set<String> names = new LinkedHashSet<>();
        int sections = word(wide ? 0x28 : 0x20);
        int size = Short.toUnsignedInt(bytes.getShort(wide ? 0x3A : 0x2E));
        int count = Short.toUnsignedInt(bytes.getShort(wide ? 0x3C : 0x30));
        for (int i = 0; i < count; i++) {
            int section = Math.addExact(sections, Math.multiplyExact(i, size));
            if (bytes.getInt(section + 4) == SYMBOL_TABLE) {
                int link = bytes.getInt(section + (wide ? 0x28 : 0x18));
                int texts = Math.addExact(sections, Math.multiplyExact(link, size));
                symbols(section, word(texts + (wide ? 0x18 : 0x10)), names);
            }
        }
        return names;
    }

    private void symbols(int section, int texts, Set<String> names) {
        int begin = word(section + (wide ? 0x18 : 0x10));
        int end = Math.addExact(begin, word(section + (wide ? 0x20 : 0x14)));
        int entry = wide ? 24 : 16;
        for (int at = begin; at < end; at += entry) {
            int info = Byte.toUnsignedInt(bytes.get(at + (wide ? 4 : 12)));
            boolean isDefined = bytes.getShort(at + (wide ? 6 : 14)) != 0;
            if (isDefined && info >= LOCAL_LIMIT) {
                names.add(text(Math.addExact(texts, bytes.getInt(at))));
            }
        }
    }

    private String text(int begin) {
        int end = begin;
        while (bytes.get(end) != 0 && end - begin < LONGEST) {
            end++;
        }
        byte[] name = new byte[end - begin];
        bytes.get(begin, name);
        return new String(name, StandardCharsets.US_ASCII);
    }

    /** An address or offset; objects are smaller than 2 GiB. */
    private int word(int at) {
        return wide ? Math.toIntExact(bytes.getLong(at)) : Math.toIntExact(Integer.toUnsignedLong(bytes.getInt(at)));
    }
}
