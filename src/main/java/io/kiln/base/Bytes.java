// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.IntToLongFunction;

/** An immutable byte string, equal by content. */
public final class Bytes {
    private final byte[] content;
    private final int start;
    private final int size;

    private Bytes(byte[] content) {
        this(content, 0, content.length);
    }

    private Bytes(byte[] content, int start, int size) {
        this.content = content;
        this.start = start;
        this.size = size;
    }

    /** A byte string of a copy of the array. */
    public static Bytes copyOf(byte[] content) {
        return new Bytes(content.clone());
    }

    /** Takes ownership of the array without copying; the caller must not keep it. */
    public static Bytes wrap(byte[] content) {
        return new Bytes(content);
    }

    /** A number of single precision for each index. */
    @FunctionalInterface
    public interface Reals {
        float at(int index);
    }

    /** Integers one behind the other, little-endian, each reduced to so many of its low bytes. */
    public static Bytes ofIntegers(int count, int width, IntToLongFunction element) {
        byte[] content = new byte[Math.multiplyExact(count, width)];
        for (int i = 0; i < count; i++) {
            long value = element.applyAsLong(i);
            for (int k = 0; k < width; k++) {
                content[i * width + k] = (byte) (value >> (Byte.SIZE * k));
            }
        }
        return new Bytes(content);
    }

    /** Numbers of single precision one behind the other, little-endian. */
    public static Bytes ofReals(int count, Reals element) {
        return ofIntegers(count, Float.BYTES, i -> Float.floatToRawIntBits(element.at(i)));
    }

    public static Bytes ofText(String text) {
        return new Bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    public int size() {
        return size;
    }

    public byte get(int index) {
        return content[start + Objects.checkIndex(index, size)];
    }

    /** The little-endian integer whose first byte has this index. */
    public int int32(int index) {
        int at = start + Objects.checkFromIndexSize(index, Integer.BYTES, size);
        return (content[at] & 0xFF)
                | ((content[at + 1] & 0xFF) << 8)
                | ((content[at + 2] & 0xFF) << 16)
                | (content[at + 3] << 24);
    }

    /** A part that shares the memory of the whole, which it keeps alive. */
    public Bytes part(int from, int length) {
        Objects.checkFromIndexSize(from, length, size);
        return new Bytes(content, start + from, length);
    }

    /** The content as a new array. */
    public byte[] toArray() {
        return Arrays.copyOfRange(content, start, start + size);
    }

    /** A read-only little-endian view, positioned at 0. */
    public ByteBuffer buffer() {
        return ByteBuffer.wrap(content, start, size).slice().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    public String text() {
        return new String(content, start, size, StandardCharsets.UTF_8);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes bytes
                && Arrays.equals(content, start, start + size, bytes.content, bytes.start, bytes.start + bytes.size);
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = start; i < start + size; i++) {
            hash = 31 * hash + content[i];
        }
        return hash;
    }

    @Override
    public String toString() {
        return "Bytes[" + size + "]";
    }
}
