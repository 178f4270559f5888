// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import io.kiln.frontend.onnx.model.ElementType;
import java.nio.ByteBuffer;

/** Converts elements as {@code raw_data} holds them to those that the IR holds; both little-endian. */
final class RawElements {
    private RawElements() {}

    /**
     * Converts elements.
     *
     * @param raw as many bytes as the elements need
     * @param out gets the elements in the type in which the IR holds them, doubles as they are
     */
    static void decode(ElementType type, ByteBuffer raw, int elements, ByteBuffer out) {
        for (int i = 0; i < elements; i++) {
            switch (type) {
                case FLOAT16 -> out.putFloat(HalfFloats.ofHalf(raw.getShort()));
                case BFLOAT16 -> out.putFloat(HalfFloats.ofBrain(raw.getShort()));
                case UINT16 -> out.putInt(raw.getShort() & 0xFFFF);
                case INT4, UINT4, INT2, UINT2, FLOAT4E2M1 -> putPart(type, raw.get(i / perByte(type)), i, out);
                case FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ, FLOAT8E8M0 ->
                    out.putFloat(HalfFloats.ofByte(type, raw.get() & 0xFF));
                case BOOL -> out.put((byte) (raw.get() == 0 ? 0 : 1));
                default -> copy(type, raw, out);
            }
        }
    }

    /** How many elements share a byte. */
    static int perByte(ElementType type) {
        return Math.max(1, Byte.SIZE / type.bits());
    }

    /** Appends one of the elements that share a byte, the first in its lowest bits. */
    static void putPart(ElementType type, int all, int index, ByteBuffer out) {
        int bits = type.bits();
        int part = (all >> (bits * (index % perByte(type)))) & ((1 << bits) - 1);
        if (type.isFloat()) {
            out.putFloat(HalfFloats.ofByte(type, part));
        } else {
            boolean isNegative = !type.isUnsigned() && part >= 1 << (bits - 1);
            out.put((byte) (isNegative ? part - (1 << bits) : part));
        }
    }

    private static void copy(ElementType type, ByteBuffer raw, ByteBuffer out) {
        for (int i = 0; i < type.bits() / Byte.SIZE; i++) {
            out.put(raw.get());
        }
    }
}
