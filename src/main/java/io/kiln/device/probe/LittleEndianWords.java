// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

/** Reads little-endian values from arrays. */
final class LittleEndianWords {
    private LittleEndianWords() {}

    static int read(byte[] content, int offset, int size) {
        int value = 0;
        for (int i = size - 1; i >= 0; i--) {
            value = value << 8 | (content[offset + i] & 0xff);
        }
        return value;
    }
}
