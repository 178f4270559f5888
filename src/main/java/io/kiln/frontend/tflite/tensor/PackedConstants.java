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
    INT4("int4", 4, true),
    /** As {@link #INT4}, without a sign; becomes uint8. */
    UINT4("uint4", 4, false),
    /** Two's complement, four to a byte, the first in the lowest bits; becomes int8. */
    INT2("int2", 2, true),
    /** IEEE 754 half precision; becomes float32, which holds every value. */
    FLOAT16("float16", Short.SIZE, true);

    private static final int FRACTION_BITS = 10;
    private static final int MOST_EXPONENT = 31;
    private static final int BIAS = 15;

    private final String text;
    private final int bits;
    private final boolean isSigned;

    PackedConstants(String text, int bits, boolean isSigned) {
        this.text = text;
        this.bits = bits;
        this.isSigned = isSigned;
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
    long bytes(long elements) {
        return (elements * bits + Byte.SIZE - 1) / Byte.SIZE;
    }

    private void unpack(ByteBuffer from, ByteBuffer to) {
        int unused = Integer.SIZE - bits;
        for (int at = 0; to.hasRemaining(); at += bits) {
            if (this == FLOAT16) {
                to.putFloat(single(from.getShort()));
                continue;
            }
            int high = from.get(at / Byte.SIZE) << (unused - at % Byte.SIZE);
            to.put((byte) (isSigned ? high >> unused : high >>> unused));
        }
    }

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
