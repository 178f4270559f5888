// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.constant;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The tables of a Huffman code, see {@link EncodedConstant}; all entries in sequence. */
final class HuffmanTables {
    private static final int COUNT_BITS = 4;

    private final ByteBuffer entries;
    private final boolean isWide;
    private final int valueBits;

    /** @param isWide whether entries have 32 bits rather than 16 */
    HuffmanTables(ByteBuffer entries, boolean isWide) {
        this.entries = entries.order(ByteOrder.LITTLE_ENDIAN);
        this.isWide = isWide;
        this.valueBits = (isWide ? Integer.SIZE : Short.SIZE) - COUNT_BITS - 1;
    }

    /**
     * Whether an entry is a symbol rather than a link to another table.
     *
     * @throws IllegalArgumentException if there is no such entry
     */
    boolean isSymbol(long index) {
        return entry(index) >>> (valueBits + COUNT_BITS) == 1;
    }

    int count(long index) {
        return entry(index) >>> valueBits & ((1 << COUNT_BITS) - 1);
    }

    /** The symbol, or the distance to the next table. */
    int value(long index) {
        return entry(index) & ((1 << valueBits) - 1);
    }

    private int entry(long index) {
        int size = isWide ? Integer.BYTES : Short.BYTES;
        if ((index + 1) * size > entries.capacity()) {
            throw new IllegalArgumentException("entry " + index + " of its Huffman tables lies beyond their end");
        }
        int at = (int) index * size;
        return isWide ? entries.getInt(at) : Short.toUnsignedInt(entries.getShort(at));
    }
}
