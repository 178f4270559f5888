// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import java.util.Optional;

/** A table of a FlatBuffers file: fields by their number in the schema, absent ones as their defaults. */
final class FlatTable {
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
    void spend(long bytes) {
        buffer.spend(bytes);
    }

    boolean has(int field) {
        return offset(field, 1) != 0;
    }

    int u8(int field, int otherwise) {
        int offset = offset(field, 1);
        return offset == 0 ? otherwise : buffer.u8(position + offset);
    }

    int i32(int field, int otherwise) {
        int offset = offset(field, 4);
        return offset == 0 ? otherwise : buffer.i32(position + offset);
    }

    long i64(int field, long otherwise) {
        int offset = offset(field, 8);
        return offset == 0 ? otherwise : buffer.i64(position + offset);
    }

    float f32(int field, float otherwise) {
        int offset = offset(field, 4);
        return offset == 0 ? otherwise : buffer.f32(position + offset);
    }

    Optional<FlatTable> table(int field) {
        int offset = offset(field, 4);
        return offset == 0 ? Optional.empty() : Optional.of(buffer.tableAt(buffer.follow(position + offset)));
    }

    /** A vector of elements of the given size; empty if the field is absent. */
    FlatVector vector(int field, int elementBytes) {
        int offset = offset(field, 4);
        return offset == 0
                ? new FlatVector(buffer, 0, 0, elementBytes)
                : buffer.vectorAt(buffer.follow(position + offset), elementBytes);
    }

    /** Text, cut at {@code limit} bytes; empty if the field is absent. */
    String string(int field, int limit) {
        int offset = offset(field, 4);
        return offset == 0 ? "" : buffer.stringAt(buffer.follow(position + offset), limit);
    }

    private int offset(int field, int width) {
        int slot = 4 + 2 * field;
        int offset = slot + 2 <= vtableSize ? buffer.u16(vtable + slot) : 0;
        if (offset != 0 && offset + width > tableSize) {
            throw buffer.corrupt("field " + field + " lies outside its table", position);
        }
        return offset;
    }
}
