// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.StrictText;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.zip.CRC32;

/** Reads what {@link BlobWriter} wrote, from sources that may be damaged: every error has its offset, and nothing is allocated beyond the file. */
final class BlobReader {
    private static final int MAGIC_BYTES = 8;

    private final Bytes blob;
    private final ByteBuffer in;
    private final String name;

    BlobReader(Bytes blob, String name) {
        this.blob = blob;
        this.in = blob.buffer();
        this.name = name;
    }

    int position() {
        return in.position();
    }

    /** Reads a magic; returns where it lies. */
    int begin(String magic) {
        int start = in.position();
        if (!text(MAGIC_BYTES, "the magic " + magic).equals(magic)) {
            throw broken("it does not begin with " + magic, start);
        }
        return start;
    }

    /** Checks the checksum of a part that began there. */
    void end(int start) {
        int at = in.position();
        CRC32 crc = new CRC32();
        crc.update(in.duplicate().position(start).limit(at));
        long stated = u32("a checksum");
        if (stated != crc.getValue()) {
            throw broken(String.format(Locale.ROOT, "the checksum is 0x%08x, not 0x%08x", crc.getValue(), stated), at);
        }
    }

    void requireEnd() {
        if (in.hasRemaining()) {
            throw broken(in.remaining() + " bytes follow", in.position());
        }
    }

    int u16(String what) {
        need(2, what);
        return in.getShort() & 0xFFFF;
    }

    long u32(String what) {
        need(4, what);
        return in.getInt() & 0xFFFFFFFFL;
    }

    /** A number of items, in 32 bits. */
    int count(String what, int most) {
        int at = in.position();
        long count = u32("the number of " + what);
        if (count > most) {
            throw broken("there are " + count + " " + what + ", more than " + most, at);
        }
        return (int) count;
    }

    /** A number of 64 bits without sign; above 2^63 it is negative. */
    long u64(String what) {
        need(8, what);
        return in.getLong();
    }

    void skip(long bytes, String what) {
        need(bytes, what);
        in.position(in.position() + (int) bytes);
    }

    Bytes raw(long bytes, String what) {
        int start = in.position();
        skip(bytes, what);
        return blob.part(start, in.position() - start);
    }

    /** Text in UTF-8. */
    String text(long bytes, String what) {
        int start = in.position();
        need(bytes, what);
        if (bytes > StrictText.MOST_BYTES) {
            throw broken(what + " takes " + bytes + " bytes, more than " + StrictText.MOST_BYTES, start);
        }
        return StrictText.of(raw(bytes, what)).orElseThrow(() -> broken(what + " is not text in UTF-8", start));
    }

    /** A value that checks itself. */
    <T> T checked(Supplier<T> value, int at) {
        try {
            return value.get();
        } catch (KilnException e) {
            throw broken(e.problems().get(0).text(), at);
        }
    }

    KilnException broken(String what, int at) {
        return new KilnException(Failure.ARCHIVE.problem(
                "this is not a whole blob of artifacts: " + what,
                name + String.format(Locale.ROOT, ", offset 0x%x", at),
                "",
                ""));
    }

    private void need(long bytes, String what) {
        if (bytes < 0 || bytes > in.remaining()) {
            throw broken(
                    what + " takes " + Long.toUnsignedString(bytes) + " bytes of " + in.remaining() + " left",
                    in.position());
        }
    }
}
