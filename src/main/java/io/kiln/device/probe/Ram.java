// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.FlashCells.LittleEndianWords;
import io.kiln.device.probe.thumb.BusFault;

/** Volatile memory. Accesses need not be aligned. */
final class Ram extends Region {
    private final byte[] content;

    Ram(int base, int size) {
        super(base, size);
        this.content = new byte[size];
    }

    @Override
    public int read(int address, int size) {
        return LittleEndianWords.read(content, checked(address, size), size);
    }

    @Override
    public void write(int address, int size, int value) {
        int offset = checked(address, size);
        for (int i = 0; i < size; i++) {
            content[offset + i] = (byte) (value >>> (8 * i));
        }
    }

    private int checked(int address, int size) {
        int offset = offset(address);
        if (offset > content.length - size) {
            throw new BusFault(address);
        }
        return offset;
    }
}
