// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import io.kiln.frontend.onnx.model.ElementType;
import java.nio.ByteBuffer;

/** Converts elements as {@code raw_data} holds them to those that the IR holds; both little-endian. */
final class RawElements {
    private static final int HALF_BYTE = 4;

    private RawElements() {}

    /**
     * Converts elements.
     *
     * @param raw as many bytes as the elements need
     * @param out gets the elements in the type in which the IR holds them
     */
    static void decode(ElementType type, ByteBuffer raw, int elements, ByteBuffer out) {
        for (int i = 0; i < elements; i++) {
            switch (type) {
                case DOUBLE -> out.putFloat((float) raw.getDouble());
                case FLOAT16 -> out.putFloat(HalfFloats.ofHalf(raw.getShort()));
                case BFLOAT16 -> out.putFloat(HalfFloats.ofBrain(raw.getShort()));
                case UINT16 -> out.putInt(raw.getShort() & 0xFFFF);
                case INT4, UINT4 -> putHalfByte(type, raw.get(i / 2), i, out);
                case BOOL -> out.put((byte) (raw.get() == 0 ? 0 : 1));
                default -> copy(type, raw, out);
            }
        }
    }

    /** Appends one of two elements of 4 bits that share a byte, the first in its lower half. */
    static void putHalfByte(ElementType type, int both, int index, ByteBuffer out) {
        int half = (index % 2 == 0 ? both : both >> HALF_BYTE) & 0xF;
        boolean isNegative = type == ElementType.INT4 && half >= 8;
        out.put((byte) (isNegative ? half - 16 : half));
    }

    private static void copy(ElementType type, ByteBuffer raw, ByteBuffer out) {
        for (int i = 0; i < type.bits() / Byte.SIZE; i++) {
            out.put(raw.get());
        }
    }
}
