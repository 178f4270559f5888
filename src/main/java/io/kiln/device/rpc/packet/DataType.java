// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.packet;

import io.kiln.base.DType;

/**
 * DLPack's type of an element.
 *
 * @param code 0 int, 1 uint, 2 float, 3 handle, 4 bfloat
 * @param bits bits of one lane, 1 to 255
 * @param lanes vector width, 1 for scalars
 */
public record DataType(int code, int bits, int lanes) {
    private static final int INT = 0;
    private static final int UINT = 1;
    private static final int FLOAT = 2;
    private static final String[] NAMES = {"int", "uint", "float", "handle", "bfloat"};
    private static final int BITS_OF_BYTE = 8;

    /** The type of Kiln's tensors of this type; bool is a uint of one bit. */
    public static DataType of(DType dtype) {
        int bits = dtype == DType.BOOL ? 1 : dtype.bytes() * BITS_OF_BYTE;
        return switch (dtype) {
            case INT8, INT16, INT32, INT64 -> new DataType(INT, bits, 1);
            case UINT8, UINT32, UINT64, BOOL -> new DataType(UINT, bits, 1);
            case FLOAT32 -> new DataType(FLOAT, bits, 1);
        };
    }

    /** Bytes of one element; each lane begins at a whole byte. */
    public long bytes() {
        return (long) (bits + BITS_OF_BYTE - 1) / BITS_OF_BYTE * lanes;
    }

    /** The type in text, such as {@code int8} or {@code float32x4}. */
    @Override
    public String toString() {
        String name = code < NAMES.length ? NAMES[code] : "code" + code;
        return name + bits + (lanes == 1 ? "" : "x" + lanes);
    }
}
