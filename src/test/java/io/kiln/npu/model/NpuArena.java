// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import java.util.Arrays;

/** Memory of a test: what is put in before, or what was taken out after. */
final class NpuArena {
    private byte[] bytes;
    private int used;

    NpuArena() {
        this(new byte[0]);
    }

    NpuArena(byte[] bytes) {
        this.bytes = bytes;
        this.used = bytes.length;
    }

    /** Offset of the next bytes, a multiple of 16. */
    int allocate(int size) {
        int offset = used;
        used += (size + 15) / 16 * 16;
        bytes = Arrays.copyOf(bytes, used);
        return offset;
    }

    /** Offset of bytes that are put in. */
    int add(byte[] content) {
        int offset = allocate(content.length);
        System.arraycopy(content, 0, bytes, offset, content.length);
        return offset;
    }

    void put(int offset, int size, long value) {
        for (int i = 0; i < size; i++) {
            bytes[offset + i] = (byte) (value >> (8 * i));
        }
    }

    long get(int offset, NpuMap.Type type) {
        long value = 0;
        for (int i = 0; i < type.bytes(); i++) {
            value |= (bytes[offset + i] & 0xffL) << (8 * i);
        }
        int unused = 64 - 8 * type.bytes();
        return type.isSigned() ? value << unused >> unused : value;
    }

    byte[] bytes() {
        return bytes.clone();
    }
}
