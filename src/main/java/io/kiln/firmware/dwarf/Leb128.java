// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.dwarf;

import java.nio.ByteBuffer;

/** Numbers of variable length, LEB128 (DWARF 5, section 7.6), of at most 64 bits. */
final class Leb128 {
    private static final int MOST_BITS = 63;

    private Leb128() {}

    static long unsigned(ByteBuffer in) {
        long value = 0;
        int shift = 0;
        byte next = in.get();
        while (next < 0) {
            value |= shifted(next & 0x7f, shift);
            shift += 7;
            next = in.get();
        }
        return value | shifted(next, shift);
    }

    static long signed(ByteBuffer in) {
        long value = 0;
        int shift = 0;
        byte next = in.get();
        while (next < 0) {
            value |= shifted(next & 0x7f, shift);
            shift += 7;
            next = in.get();
        }
        value |= shifted(next, shift);
        shift += 7;
        return (next & 0x40) != 0 && shift <= MOST_BITS ? value | -1L << shift : value;
    }

    /** Shifts bits to their place in the number; bits beyond 64 are dropped. */
    private static long shifted(int bits, int shift) {
        return shift > MOST_BITS ? 0 : (long) bits << shift;
    }
}
