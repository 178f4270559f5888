// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.flatbuffer;

import java.util.Optional;

/** A table of a FlatBuffers file. A missing field reads as its default. */
public final class FlatTable {
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
