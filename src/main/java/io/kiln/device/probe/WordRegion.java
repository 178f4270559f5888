// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import java.util.HashMap;
import java.util.Map;

/** Registers of 32 bits. Narrow accesses read or change only their part. Registers without a function are storage. */
class WordRegion extends Region {
    private final Map<Integer, Integer> words = new HashMap<>();

    WordRegion(int base, int size) {
        super(base, size);
    }

    /** The register at this offset from the base, a multiple of 4. */
    int readWord(int offset) {
        return words.getOrDefault(offset, 0);
    }

    void writeWord(int offset, int value) {
        words.put(offset, value);
    }

    final void clear() {
        words.clear();
    }

    @Override
    public final int read(int address, int size) {
        int word = readWord(offset(address) & ~3) >>> (8 * (address & 3));
        return size == 4 ? word : word & (1 << (8 * size)) - 1;
    }

    @Override
    public final void write(int address, int size, int value) {
        int offset = offset(address) & ~3;
        if (size == 4) {
            writeWord(offset, value);
            return;
        }
        int shift = 8 * (address & 3);
        int mask = ((1 << (8 * size)) - 1) << shift;
        writeWord(offset, (readWord(offset) & ~mask) | (value << shift & mask));
    }
}
