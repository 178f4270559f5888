// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

/** Types of a tensor's elements. There may be more in a later version: have a default branch. */
public enum ElementType {
    /** Signed, 8 bits. */
    INT8(1),
    /** Unsigned, 8 bits. */
    UINT8(1),
    /** Signed, 16 bits. */
    INT16(2),
    /** Signed, 32 bits. */
    INT32(4),
    /** Unsigned, 32 bits. */
    UINT32(4),
    /** Signed, 64 bits. */
    INT64(8),
    /** Unsigned, 64 bits. */
    UINT64(8),
    /** IEEE 754, 32 bits. */
    FLOAT32(4),
    /** 0 or 1 in a byte. */
    BOOL(1);

    private final int bytes;

    ElementType(int bytes) {
        this.bytes = bytes;
    }

    /** Bytes that one element takes. */
    public int bytes() {
        return bytes;
    }
}
