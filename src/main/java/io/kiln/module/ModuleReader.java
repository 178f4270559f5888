// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.StrictText;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the primitives of dmlc::Stream from a blob that may be damaged: every count and length is checked against what is left, so that little
 * memory is taken, and every error has its offset.
 */
public final class ModuleReader {
    private final Bytes blob;
    private final ByteBuffer in;
    private final String name;

    /**
     * @param blob the bytes
     * @param name the file's name, for messages
     */
    public ModuleReader(Bytes blob, String name) {
        this.blob = blob;
        this.in = blob.buffer().order(ByteOrder.LITTLE_ENDIAN);
        this.name = name;
    }

    /** The offset of what is read next. */
    public int position() {
        return in.position();
    }

    /** How many bytes are left. */
    public int remaining() {
        return in.remaining();
    }

    /** A number of 64 bits, signed. */
    public long u64(String what) {
        need(8, what);
        return in.getLong();
    }

    /** A number of 32 bits, signed. */
    public int u32(String what) {
        need(4, what);
        return in.getInt();
    }

    /**
     * A count of 64 bits.
     *
     * @param least bytes that each item takes
     */
    public int count(int least, String what) {
        int at = position();
        long count = u64(what);
        if (count < 0 || count > in.remaining() / least) {
            throw broken(what + " is " + Long.toUnsignedString(count) + " with " + in.remaining() + " bytes left", at);
        }
        return (int) count;
    }

    /** u64 length and the bytes. */
    public Bytes string(String what) {
        return raw(length(what), what);
    }

    /** Many are read, so that texts for errors are made only where there is one. */
    private int length(String what) {
        int at = position();
        long length = u64(what);
        if (length < 0 || length > in.remaining()) {
            throw broken(
                    "the length of " + what + " is " + Long.toUnsignedString(length) + " with " + in.remaining()
                            + " bytes left",
                    at);
        }
        return (int) length;
    }

    /** u64 length and the text in UTF-8. */
    public String text(String what) {
        int at = position();
        int length = length(what);
        int start = position();
        if (length > StrictText.MOST_BYTES) {
            throw broken("the length of " + what + " is " + length + ", more than " + StrictText.MOST_BYTES, at);
        }
        if (length == 0) {
            return "";
        }
        return StrictText.of(raw(length, what)).orElseThrow(() -> broken(what + " is not text in UTF-8", start));
    }

    /** u64 count and the strings. */
    public List<String> texts(String what) {
        int count = count(8, "the number of " + what);
        List<String> texts = new ArrayList<>(count);
        String each = "one of the " + what;
        for (int i = 0; i < count; i++) {
            texts.add(text(each));
        }
        return texts;
    }

    /** u64 count and numbers of 64 bits, each below 2^31; they share the blob's memory. */
    public List<Integer> numbers(String what) {
        int count = count(8, "the number of " + what);
        int start = position();
        String each = "one of the " + what;
        for (int i = 0; i < count; i++) {
            int at = position();
            long number = u64(each);
            if (number < 0 || number > Integer.MAX_VALUE) {
                throw broken(each + " is " + Long.toUnsignedString(number), at);
            }
        }
        return new NumbersInBlob(since(start).buffer());
    }

    /** Some bytes as they are; they share the blob's memory. */
    public Bytes raw(long length, String what) {
        int start = position();
        skip(length, what);
        return since(start);
    }

    /** The bytes from an offset to where the input stands; they share the blob's memory. */
    public Bytes since(int start) {
        return blob.part(start, position() - start);
    }

    /** Passes over some bytes. */
    public void skip(long length, String what) {
        need(length, what);
        in.position(position() + (int) length);
    }

    /** An error at an offset. */
    public KilnException broken(String what, int at) {
        return new KilnException(
                new Problem("the modules cannot be read: " + what, name + String.format(", offset 0x%x", at), "", ""));
    }

    private void need(long length, String what) {
        if (length < 0 || length > in.remaining()) {
            throw broken(
                    what + " takes " + Long.toUnsignedString(length) + " bytes of " + in.remaining() + " left",
                    position());
        }
    }
}
