// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** What a core sees on its bus: little-endian, 32-bit addresses taken as unsigned. */
public interface Memory {
    /**
     * Reads.
     *
     * @param size bytes: 1, 2 or 4
     * @return the value, zero-extended
     * @throws BusFault if nothing answers
     */
    int read(int address, int size);

    /**
     * Writes the low bytes of the value.
     *
     * @param size bytes: 1, 2 or 4
     * @throws BusFault if nothing takes it
     */
    void write(int address, int size, int value);
}
