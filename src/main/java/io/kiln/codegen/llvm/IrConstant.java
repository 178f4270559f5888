// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.StringJoiner;

/** Prints constants in LLVM IR, exact to the bit. */
final class IrConstant {
    private static final int MANTISSA = 0x7FFFFF;
    private static final int MANTISSA_BITS = 23;
    private static final int BYTE_MASK = 0xFF;
    private static final int DOUBLE_EXPONENT = 0x7FF;
    private static final int DOUBLE_MANTISSA_BITS = 52;
    private static final char[] HEX = "0123456789ABCDEF".toCharArray();

    private IrConstant() {}

    /**
     * A float32. LLVM writes it as the double of the same value, in hexadecimal; Java's conversion would change the payload of NaN, so that
     * for infinities and NaN the bits are put together here.
     */
    static String ofFloat(int bits) {
        float value = Float.intBitsToFloat(bits);
        if (Float.isFinite(value)) {
            return String.format(Locale.ROOT, "0x%016X", Double.doubleToRawLongBits(value));
        }
        long sign = bits < 0 ? Long.MIN_VALUE : 0;
        long mantissa = (long) (bits & MANTISSA) << (DOUBLE_MANTISSA_BITS - MANTISSA_BITS);
        return String.format(Locale.ROOT, "0x%016X", sign | (long) DOUBLE_EXPONENT << DOUBLE_MANTISSA_BITS | mantissa);
    }

    /** The elements of a table, with its type: bytes as a string, which is the shortest form. */
    static String array(DType dtype, Bytes content) {
        ByteBuffer data = content.buffer();
        String type = IrType.inMemory(dtype);
        String head = "[" + content.size() / dtype.bytes() + " x " + type + "] ";
        if (content.size() == 0) {
            return head + "zeroinitializer";
        }
        if (dtype.bytes() == 1) {
            return head + string(data);
        }
        StringJoiner elements = new StringJoiner(", ", "[", "]");
        while (data.hasRemaining()) {
            elements.add(type + " " + element(dtype, data));
        }
        return head + elements;
    }

    private static String element(DType dtype, ByteBuffer data) {
        return switch (dtype.bytes()) {
            case Short.BYTES -> Short.toString(data.getShort());
            case Integer.BYTES -> dtype.isFloat() ? ofFloat(data.getInt()) : Integer.toString(data.getInt());
            default -> Long.toString(data.getLong());
        };
    }

    private static String string(ByteBuffer data) {
        StringBuilder text = new StringBuilder("c\"");
        while (data.hasRemaining()) {
            int value = data.get() & BYTE_MASK;
            text.append('\\').append(HEX[value >> 4]).append(HEX[value & 0xF]);
        }
        return text.append('"').toString();
    }
}
