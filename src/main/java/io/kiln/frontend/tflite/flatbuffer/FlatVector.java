// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.flatbuffer;

import java.util.stream.IntStream;

/**
 * A vector of a FlatBuffers file, already bounds-checked.
 *
 * @param start offset of the first element in the file
 * @param size number of elements
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
