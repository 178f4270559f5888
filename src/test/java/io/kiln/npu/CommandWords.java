// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu;

import io.kiln.base.Bytes;
import java.io.ByteArrayOutputStream;

/** Writes payloads for tests, word by word: what Vela writes for a maximum over windows of one pixel, which only clamps. */
public final class CommandWords {
    private static final int POOL = 0x005;

    private final ByteArrayOutputStream stream = new ByteArrayOutputStream();

    /** A command of one word. */
    public CommandWords narrow(int opcode, int parameter) {
        word(stream, opcode | parameter << 16);
        return this;
    }

    /** A command with a word behind it. */
    public CommandWords wide(int opcode, int value) {
        word(stream, opcode | 1 << 14);
        word(stream, value);
        return this;
    }

    /**
     * Limits the elements of a map in the arena, int8, rows x columns x channels.
     *
     * @param from its first byte
     * @param to first byte of the result
     */
    public CommandWords clamp(int from, int to, int rows, int columns, int channels, int least, int most) {
        map(0x000, 0x10A, 0x10F, from, rows, columns, channels);
        narrow(0x104, channels - 1).narrow(0x105, 1).narrow(0x107, 0).narrow(0x109, 0);
        narrow(0x100, 0).narrow(0x101, 0).narrow(0x102, 0).narrow(0x103, 0);
        map(0x010, 0x11A, 0x11F, to, rows, columns, channels);
        narrow(0x111, columns - 1).narrow(0x112, rows - 1).narrow(0x113, channels - 1);
        narrow(0x114, 0x101).narrow(0x118, 0);
        narrow(0x115, columns - 1).narrow(0x116, rows - 1).narrow(0x117, 7);
        narrow(0x120, 0).narrow(0x121, 0).narrow(0x122, 0).narrow(0x123, 0).narrow(0x124, 0);
        narrow(0x125, 0).narrow(0x126, least & 0xFFFF).narrow(0x127, most & 0xFFFF);
        wide(0x024, 1 << 30);
        return narrow(POOL, 0);
    }

    private void map(int bases, int sizes, int region, int first, int rows, int columns, int channels) {
        narrow(region, 1);
        wide(bases, first).wide(bases + 1, 0).wide(bases + 2, 0).wide(bases + 3, 0);
        narrow(sizes, columns - 1).narrow(sizes + 1, rows - 1).narrow(sizes + 2, rows - 1);
        wide(bases + 4, channels).wide(bases + 5, columns * channels).wide(bases + 6, 1);
    }

    /** The payload for an NPU, ended by STOP. */
    public Bytes payload(int configuration) {
        narrow(0x000, 0xFFFF);
        return unended(configuration);
    }

    /** The payload for an NPU as it is so far. */
    public Bytes unended(int configuration) {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        int words = stream.size() / Integer.BYTES;
        word(payload, 0x31504F43);
        word(payload, 0x00100001);
        word(payload, configuration);
        word(payload, 0x10060000);
        word(payload, 5);
        word(payload, 5);
        word(payload, 5);
        word(payload, 2 | (words & 0xFFFF) << 16 | words >>> 16 << 8);
        payload.writeBytes(stream.toByteArray());
        return Bytes.wrap(payload.toByteArray());
    }

    private static void word(ByteArrayOutputStream out, int word) {
        for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
            out.write(word >>> shift);
        }
    }
}
