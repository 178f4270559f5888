// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

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

    /** Whether power is still on. */
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
}
