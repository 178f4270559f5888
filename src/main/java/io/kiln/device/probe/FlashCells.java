// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The cells of the flash: erasing sets bits, programming only clears them. */
final class FlashCells {
    private final byte[] content;
    private final List<Fault.FlippedBit> flips;
    private final long powerEnds;
    private long programmed;

    /** Cells in an array that outlives them. */
    FlashCells(byte[] content, Faults faults) {
        this.content = content;
        this.flips = faults.all(Fault.FlippedBit.class).toList();
        this.powerEnds = faults.find(Fault.PowerLost.class)
                .map(Fault.PowerLost::afterBytes)
                .orElse(Long.MAX_VALUE);
    }

    /** Bytes programmed since the start. */
    long programmed() {
        return programmed;
    }

    boolean powered() {
        return programmed < powerEnds;
    }

    int size() {
        return content.length;
    }

    int read(int offset, int size) {
        return LittleEndianWords.read(content, offset, size);
    }

    void eraseSector(int sector) {
        Arrays.fill(content, FlashSectors.start(sector), FlashSectors.start(sector + 1), (byte) 0xff);
    }

    void eraseAll() {
        Arrays.fill(content, (byte) 0xff);
    }

    void program(int offset, int size, int value) {
        for (int i = 0; i < size && powered(); i++) {
            content[offset + i] &= (byte) (value >>> (8 * i));
            for (Fault.FlippedBit flip : flips) {
                if (flip.address() - FlashArray.BASE == offset + i) {
                    content[offset + i] ^= (byte) (1 << flip.bit());
                }
            }
            programmed++;
        }
    }

    /** The erasable sectors of 1 MiB: four of 16 KiB, one of 64 KiB, seven of 128 KiB. */
    static final class FlashSectors {
        static final int COUNT = 12;

        private FlashSectors() {}

        /** First byte of a sector, relative to the start of the flash; for {@link #COUNT}, the end. */
        static int start(int sector) {
            if (sector <= 4) {
                return sector * 0x4000;
            }
            return (sector - 4) * 0x20000;
        }

        /** The sector that contains a byte. */
        static int of(int offset) {
            int sector = COUNT - 1;
            while (start(sector) > offset) {
                sector--;
            }
            return sector;
        }

        /** Numbers of the sectors in a bit mask. */
        static List<Integer> inMask(int mask) {
            List<Integer> sectors = new ArrayList<>();
            for (int sector = 0; sector < COUNT; sector++) {
                if ((mask & 1 << sector) != 0) {
                    sectors.add(sector);
                }
            }
            return sectors;
        }
    }

    /** Reads little-endian values from arrays. */
    static final class LittleEndianWords {
        private LittleEndianWords() {}

        static int read(byte[] content, int offset, int size) {
            int value = 0;
            for (int i = size - 1; i >= 0; i--) {
                value = value << 8 | (content[offset + i] & 0xff);
            }
            return value;
        }
    }
}
