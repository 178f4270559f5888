// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Numbers as the bytes of tensors. */
public final class LittleEndian {
    private LittleEndian() {}

    public static byte[] ofInts(int... values) {
        ByteBuffer buffer = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            buffer.putInt(value);
        }
        return buffer.array();
    }

    /** Numbers of 16 bits. */
    public static byte[] ofShorts(int... values) {
        ByteBuffer buffer = ByteBuffer.allocate(2 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            buffer.putShort((short) value);
        }
        return buffer.array();
    }

    public static byte[] ofLongs(long... values) {
        ByteBuffer buffer = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            buffer.putLong(value);
        }
        return buffer.array();
    }

    public static byte[] ofFloats(float... values) {
        ByteBuffer buffer = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            buffer.putFloat(value);
        }
        return buffer.array();
    }
}
