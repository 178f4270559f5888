// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import io.kiln.base.Bytes;
import java.io.ByteArrayOutputStream;

/**
 * microTVM's framing: {@code FF FD}, length (u32), payload, CRC (u16); numbers little-endian; a data byte {@code FF} is
 * sent twice, {@code FF FE} is a filler. The CRC-16-CCITT (polynomial 0x1021, start 0xFFFF, high bit first, no
 * reflection) covers the bytes as sent, fillers included, from {@code FF FD} to the end of the payload.
 */
public final class Frames {
    static final int ESCAPE = 0xFF;
    static final int NOP = 0xFE;
    static final int START = 0xFD;
    private static final int[] TABLE = table();

    private Frames() {}

    public static byte[] encode(Bytes payload) {
        ByteArrayOutputStream wire = new ByteArrayOutputStream(payload.size() + 16);
        wire.write(ESCAPE);
        wire.write(START);
        for (int shift = 0; shift < 32; shift += 8) {
            escape(wire, payload.size() >>> shift & 0xFF);
        }
        for (int i = 0; i < payload.size(); i++) {
            escape(wire, payload.get(i) & 0xFF);
        }
        int crc = crc(wire.toByteArray());
        escape(wire, crc & 0xFF);
        escape(wire, crc >>> 8);
        return wire.toByteArray();
    }

    private static void escape(ByteArrayOutputStream wire, int value) {
        if (value == ESCAPE) {
            wire.write(ESCAPE);
        }
        wire.write(value);
    }

    static int crc(byte[] bytes) {
        int crc = 0xFFFF;
        for (byte value : bytes) {
            crc = crc(crc, value & 0xFF);
        }
        return crc;
    }

    /** Updates the CRC with one byte, 0 to 255. */
    static int crc(int before, int value) {
        return (before << Byte.SIZE ^ TABLE[before >>> Byte.SIZE ^ value]) & 0xFFFF;
    }

    /** The CRC of each single byte, from 0 on. */
    private static int[] table() {
        int[] table = new int[1 << Byte.SIZE];
        for (int value = 0; value < table.length; value++) {
            int crc = value << Byte.SIZE;
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
            }
            table[value] = crc & 0xFFFF;
        }
        return table;
    }
}
