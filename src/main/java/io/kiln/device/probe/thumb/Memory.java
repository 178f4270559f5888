// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** A core's view of its bus: little-endian, addresses of 32 bits, unsigned. */
public interface Memory {
    /**
     * Reads a value.
     *
     * @param size bytes: 1, 2 or 4
     * @return the value, zero-extended
     * @throws BusFault if the address has no memory
     */
    int read(int address, int size);

    /**
     * Writes the low bytes of the value.
     *
     * @param size bytes: 1, 2 or 4
     * @throws BusFault if the address cannot be written
     */
    void write(int address, int size, int value);
}
