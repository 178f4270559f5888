// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.schema.TfliteType;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/** Constants of types that are smaller in the file than in the IR. */
enum PackedConstants {
    /** Two's complement, two to a byte, the first in the lower half; becomes int8. */
    INT4("int4", 4) {
        @Override
        long bytes(long elements) {
            return (elements + 1) / 2;
        }

        @Override
        void unpack(ByteBuffer from, ByteBuffer to) {
            for (int i = 0; to.hasRemaining(); i++) {
                int pair = from.get(i / 2);
                to.put((byte) (i % 2 == 0 ? (byte) (pair << 4) >> 4 : pair >> 4));
            }
        }
    },
    /** As {@link #INT4}, without a sign; becomes uint8. */
    UINT4("uint4", 4) {
        @Override
        long bytes(long elements) {
            return (elements + 1) / 2;
        }

        @Override
        void unpack(ByteBuffer from, ByteBuffer to) {
            for (int i = 0; to.hasRemaining(); i++) {
                to.put((byte) ((from.get(i / 2) >> (4 * (i % 2))) & 15));
            }
        }
    },
    /** Two's complement, four to a byte, the first in the lowest bits; becomes int8. */
    INT2("int2", 2) {
        @Override
        long bytes(long elements) {
            return (elements + 3) / 4;
        }

        @Override
        void unpack(ByteBuffer from, ByteBuffer to) {
            for (int i = 0; to.hasRemaining(); i++) {
                int four = from.get(i / 4);
                to.put((byte) ((byte) (four << (6 - 2 * (i % 4))) >> 6));
            }
        }
    },
    /** IEEE 754 half precision; becomes float32, which holds every value. */
    FLOAT16("float16", 16) {
        @Override
        long bytes(long elements) {
            return 2 * elements;
        }

        @Override
        void unpack(ByteBuffer from, ByteBuffer to) {
            while (to.hasRemaining()) {
                to.putFloat(single(from.getShort()));
            }
        }
    };

    private static final int FRACTION_BITS = 10;
    private static final int MOST_EXPONENT = 31;
    private static final int BIAS = 15;

    private final String text;
    private final int bits;

    PackedConstants(String text, int bits) {
        this.text = text;
        this.bits = bits;
    }

    /** The packing of a type; empty if constants have the same form in file and IR. */
    static Optional<PackedConstants> of(TfliteType type) {
        return switch (type) {
            case INT4 -> Optional.of(INT4);
            case UINT4 -> Optional.of(UINT4);
            case INT2 -> Optional.of(INT2);
            case FLOAT16 -> Optional.of(FLOAT16);
            default -> Optional.empty();
        };
    }

    /** The type's name for messages. */
    String text() {
        return text;
    }

    /** Number of bits of an element in the file. */
    int bits() {
        return bits;
    }

    /** Number of bytes of packed elements in the file. */
    abstract long bytes(long elements);

    abstract void unpack(ByteBuffer from, ByteBuffer to);

    /** Elements of the IR's type. */
    Bytes unpack(byte[] data, TensorType type) {
        ByteBuffer to = ByteBuffer.allocate((int) type.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        unpack(ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN), to);
        return Bytes.wrap(to.array());
    }

    private static float single(short half) {
        int exponent = half >> FRACTION_BITS & MOST_EXPONENT;
        int fraction = half & ((1 << FRACTION_BITS) - 1);
        float magnitude;
        if (exponent == 0) {
            magnitude = Math.scalb((float) fraction, 1 - BIAS - FRACTION_BITS);
        } else if (exponent == MOST_EXPONENT) {
            magnitude = fraction == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
        } else {
            magnitude = Math.scalb((float) (fraction | 1 << FRACTION_BITS), exponent - BIAS - FRACTION_BITS);
        }
        return half < 0 ? -magnitude : magnitude;
    }
}
