// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/** Writes little-endian numbers, and parts that begin with a magic and end with a CRC-32. */
final class BlobWriter {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    /** Begins a part; returns where. */
    int begin(String magic) {
        int start = out.size();
        raw(magic.getBytes(StandardCharsets.US_ASCII));
        return start;
    }

    /** Ends a part that began there with its checksum. */
    void end(int start) {
        CRC32 crc = new CRC32();
        byte[] written = out.toByteArray();
        crc.update(written, start, written.length - start);
        u32(crc.getValue());
    }

    BlobWriter u16(int value) {
        return number(value, 2);
    }

    BlobWriter u32(long value) {
        return number(value, 4);
    }

    BlobWriter u64(long value) {
        return number(value, 8);
    }

    BlobWriter raw(byte[] bytes) {
        out.writeBytes(bytes);
        return this;
    }

    private BlobWriter number(long value, int bytes) {
        byte[] text = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            text[i] = (byte) (value >>> (8 * i));
        }
        return raw(text);
    }

    Bytes bytes() {
        return Bytes.wrap(out.toByteArray());
    }
}
