// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.flatbuffer;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.stream.IntStream;

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
            throw Failure.MODEL.exception(
                    "the file refers to the same data so often that the model is many times larger than the file",
                    file,
                    "tensors with data of their own",
                    "Export the model again");
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
        return Failure.MODEL.exception(
                "the file is truncated or corrupt at byte " + position + ": " + what,
                file,
                "a complete TensorFlow Lite model",
                "Copy or export it again; this file has " + size() + " bytes");
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

    /** A table of a FlatBuffers file. A missing field reads as its default. */
    public static final class FlatTable {
        private final FlatBuffer buffer;
        private final int position;
        private final int vtable;
        private final int vtableSize;
        private final int tableSize;

        FlatTable(FlatBuffer buffer, int position, int vtable, int vtableSize, int tableSize) {
            this.buffer = buffer;
            this.position = position;
            this.vtable = vtable;
            this.vtableSize = vtableSize;
            this.tableSize = tableSize;
        }

        /** Offset of the table in the file. */
        int position() {
            return position;
        }

        /** See {@link FlatBuffer#spend}. */
        public void spend(long bytes) {
            buffer.spend(bytes);
        }

        /** Whether the table has the field. */
        public boolean has(Field field) {
            return offset(field, 1) != 0;
        }

        public int get(Field.UByte field) {
            int offset = offset(field, 1);
            return offset == 0 ? 0 : buffer.u8(position + offset);
        }

        public boolean get(Field.Bool field) {
            int offset = offset(field, 1);
            return offset != 0 && buffer.u8(position + offset) != 0;
        }

        public int get(Field.Int32 field) {
            int offset = offset(field, Integer.BYTES);
            return offset == 0 ? field.otherwise() : buffer.i32(position + offset);
        }

        public long get(Field.Int64 field) {
            int offset = offset(field, Long.BYTES);
            return offset == 0 ? 0 : buffer.i64(position + offset);
        }

        public float get(Field.Real field) {
            int offset = offset(field, Float.BYTES);
            return offset == 0 ? 0 : buffer.f32(position + offset);
        }

        /** A table that the field refers to; empty if the field is absent. */
        public Optional<FlatTable> get(Field.Table field) {
            int offset = offset(field, Integer.BYTES);
            return offset == 0 ? Optional.empty() : Optional.of(buffer.tableAt(buffer.follow(position + offset)));
        }

        /** A vector; empty if the field is absent. */
        public FlatVector get(Field.Vector field) {
            int offset = offset(field, Integer.BYTES);
            return offset == 0
                    ? new FlatVector(buffer, 0, 0, field.elementBytes())
                    : buffer.vectorAt(buffer.follow(position + offset), field.elementBytes());
        }

        /** Text, truncated to {@code limit} bytes; empty if the field is absent. */
        public String get(Field.Text field, int limit) {
            int offset = offset(field, Integer.BYTES);
            return offset == 0 ? "" : buffer.stringAt(buffer.follow(position + offset), limit);
        }

        private int offset(Field field, int width) {
            int slot = 4 + 2 * field.number();
            int offset = slot + 2 <= vtableSize ? buffer.u16(vtable + slot) : 0;
            if (offset != 0 && offset + width > tableSize) {
                throw buffer.corrupt("field " + field.number() + " lies outside its table", position);
            }
            return offset;
        }
    }

    /**
     * A vector of a FlatBuffers file, already bounds-checked.
     *
     * @param start offset of the first element in the file
     * @param elementBytes size of one element
     */
    public record FlatVector(FlatBuffer buffer, int start, int size, int elementBytes) {
        /** Counts the whole vector as read. */
        public FlatVector spent() {
            buffer.spend((long) size * elementBytes);
            return this;
        }

        public int i32(int index) {
            return buffer.i32(at(index));
        }

        public long i64(int index) {
            return buffer.i64(at(index));
        }

        public float f32(int index) {
            return buffer.f32(at(index));
        }

        public FlatTable table(int index) {
            return buffer.tableAt(buffer.follow(at(index)));
        }

        public int[] ints() {
            spent();
            return IntStream.range(0, size).map(this::i32).toArray();
        }

        /** All elements as numbers of single precision. */
        public float[] reals() {
            float[] reals = new float[spent().size()];
            for (int i = 0; i < reals.length; i++) {
                reals[i] = f32(i);
            }
            return reals;
        }

        public byte[] bytes() {
            return buffer.copy(start, size * elementBytes);
        }

        private int at(int index) {
            if (index < 0 || index >= size) {
                throw new IndexOutOfBoundsException("element " + index + " of " + size);
            }
            return start + index * elementBytes;
        }
    }

    /** A field of a FlatBuffers table: its number in the schema, its type, and its default. */
    public sealed interface Field {
        /** Number of the field in its table; the schema counts from 0. */
        int number();

        /** An unsigned byte, or the code of an enum; 0 if absent. */
        record UByte(int number) implements Field {}

        record Bool(int number) implements Field {}

        /**
         * An integer of 32 bits.
         *
         * @param otherwise the value if absent
         */
        record Int32(int number, int otherwise) implements Field {
            /** A field that is 0 if absent. */
            public Int32(int number) {
                this(number, 0);
            }
        }

        /** An integer of 64 bits; 0 if absent. */
        record Int64(int number) implements Field {}

        /** A number in single precision; 0 if absent. */
        record Real(int number) implements Field {}

        /** Text; empty if absent. */
        record Text(int number) implements Field {}

        record Table(int number) implements Field {}

        /**
         * A vector; empty if absent.
         *
         * @param elementBytes size of an element; 4 for offsets to tables
         */
        record Vector(int number, int elementBytes) implements Field {
            /** A vector of elements, or of offsets to tables, of 4 bytes each. */
            public Vector(int number) {
                this(number, Integer.BYTES);
            }
        }
    }
}
