// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** An immutable byte string, equal by content. */
public final class Bytes {
    private final byte[] content;

    private Bytes(byte[] content) {
        this.content = content;
    }

    /** Copies the array. */
    public static Bytes copyOf(byte[] content) {
        return new Bytes(content.clone());
    }

    /** Takes ownership of the array without copying; the caller must not keep it. */
    public static Bytes wrap(byte[] content) {
        return new Bytes(content);
    }

    public static Bytes ofText(String text) {
        return new Bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    public int size() {
        return content.length;
    }

    public byte get(int index) {
        return content[index];
    }

    /** A copy. */
    public byte[] toArray() {
        return content.clone();
    }

    /** A read-only little-endian view, positioned at 0. */
    public ByteBuffer buffer() {
        return ByteBuffer.wrap(content).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The content as UTF-8. */
    public String text() {
        return new String(content, StandardCharsets.UTF_8);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes bytes && Arrays.equals(content, bytes.content);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(content);
    }

    @Override
    public String toString() {
        return "Bytes[" + content.length + "]";
    }
}
