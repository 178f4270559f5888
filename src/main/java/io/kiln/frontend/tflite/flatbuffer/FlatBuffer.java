// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.flatbuffer;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Bounds-checked access to an untrusted FlatBuffers file: every offset is checked before it is followed, and the
 * elements read are counted, because a small file can refer to the same bytes from many places.
 */
public final class FlatBuffer {
    private final String file;
    private final ByteBuffer data;
    private long budget;

    /**
     * @param file name for messages
     * @param budget total bytes of vectors that may be read, repeated reading included
     */
    public FlatBuffer(String file, Bytes content, long budget) {
        this.file = file;
        this.data = content.buffer();
        this.budget = budget;
    }

    public String file() {
        return file;
    }

    public int size() {
        return data.capacity();
    }

    /** The root table; the file identifier follows its offset. */
    public FlatTable root() {
        return tableAt(follow(0));
    }

    FlatTable tableAt(int position) {
        int vtable = checked(position - (long) i32(position), 4, "the field list of a table", position);
        int vtableSize = u16(vtable);
        int tableSize = u16(vtable + 2);
        if (vtableSize < 4 || vtableSize % 2 != 0 || tableSize < 4) {
            throw corrupt("the field list of a table has an impossible size", position);
        }
        checked(vtable, vtableSize, "the field list of a table", position);
        checked(position, tableSize, "a table", position);
        return new FlatTable(this, position, vtable, vtableSize, tableSize);
    }

    /** The position that the unsigned 32-bit offset at {@code position} points to. */
    int follow(int position) {
        long offset = i32(position) & 0xFFFFFFFFL;
        if (offset == 0) {
            throw corrupt("an offset is 0", position);
        }
        return checked(position + offset, 4, "an offset", position);
    }

    FlatVector vectorAt(int position, int elementBytes) {
        long count = i32(position) & 0xFFFFFFFFL;
        checked(position + 4L, count * elementBytes, "a vector of " + count + " elements", position);
        return new FlatVector(this, position + 4, (int) count, elementBytes);
    }

    /** Text, truncated to {@code limit} bytes. */
    String stringAt(int position, int limit) {
        FlatVector bytes = vectorAt(position, 1);
        byte[] text = copy(bytes.start(), Math.min(bytes.size(), limit));
        return new String(text, StandardCharsets.UTF_8) + (bytes.size() > limit ? "…" : "");
    }

    byte[] copy(int position, int length) {
        spend(length);
        byte[] copy = new byte[checkedLength(position, length)];
        data.get(position, copy);
        return copy;
    }

    /** Counts bytes that are about to be read or derived. */
    void spend(long bytes) {
        budget -= bytes;
        if (budget < 0) {
            throw new KilnException(Failure.MODEL.problem(
                    "the file refers to the same data so often that the model is many times larger than the file",
                    file,
                    "tensors with data of their own",
                    "Export the model again"));
        }
    }

    int u8(int position) {
        return data.get(checked(position, 1, "a byte", position)) & 0xFF;
    }

    int u16(int position) {
        return data.getShort(checked(position, 2, "a number", position)) & 0xFFFF;
    }

    int i32(int position) {
        return data.getInt(checked(position, 4, "a number", position));
    }

    long i64(int position) {
        return data.getLong(checked(position, 8, "a number", position));
    }

    float f32(int position) {
        return Float.intBitsToFloat(i32(position));
    }

    public KilnException corrupt(String what, long position) {
        return new KilnException(Failure.MODEL.problem(
                "the file is truncated or corrupt at byte " + position + ": " + what,
                file,
                "a complete TensorFlow Lite model",
                "Copy or export it again; this file has " + size() + " bytes"));
    }

    private int checkedLength(int position, int length) {
        checked(position, length, "data", position);
        return length;
    }

    private int checked(long position, long bytes, String what, long from) {
        if (position < 0 || bytes < 0 || position + bytes > size()) {
            throw corrupt(what + " lies outside the file", from);
        }
        return (int) position;
    }
}
