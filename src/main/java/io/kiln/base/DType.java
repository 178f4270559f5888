// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

/** Scalar element types of tensors, buffers and C variables. */
public enum DType {
    INT8("int8", "int8_t", 1),
    UINT8("uint8", "uint8_t", 1),
    INT16("int16", "int16_t", 2),
    INT32("int32", "int32_t", 4),
    UINT32("uint32", "uint32_t", 4),
    INT64("int64", "int64_t", 8),
    UINT64("uint64", "uint64_t", 8),
    FLOAT32("float32", "float", 4),
    BOOL("bool", "bool", 1);

    private final String text;
    private final String cName;
    private final int bytes;

    DType(String text, String cName, int bytes) {
        this.text = text;
        this.cName = cName;
        this.bytes = bytes;
    }

    /** The name that Relay and the JSON files use, such as {@code int8}. */
    public String text() {
        return text;
    }

    /** The C99 type of one element. */
    public String cName() {
        return cName;
    }

    /** Size of one element in bytes. */
    public int bytes() {
        return bytes;
    }

    /** Whether this is a signed or unsigned integer (bool is not). */
    public boolean isInteger() {
        return this != FLOAT32 && this != BOOL;
    }

    public boolean isFloat() {
        return this == FLOAT32;
    }

    /** Whether this is an integer of 64 bits, signed or unsigned. */
    public boolean isLong() {
        return this == INT64 || this == UINT64;
    }

    /** Whether this is an unsigned integer type whose values exceed int32, so that signed comparison is wrong. */
    public boolean isWideUnsigned() {
        return this == UINT32 || this == UINT64;
    }

    /** Smallest value of an integer type. */
    public long min() {
        return switch (this) {
            case INT8 -> Byte.MIN_VALUE;
            case INT16 -> Short.MIN_VALUE;
            case INT32 -> Integer.MIN_VALUE;
            case INT64 -> Long.MIN_VALUE;
            case UINT8, UINT32, UINT64, BOOL -> 0;
            case FLOAT32 -> throw new IllegalArgumentException("float32 has no integer range");
        };
    }

    /** Largest value of an integer type; for uint64 the largest one that fits into a long. */
    public long max() {
        return switch (this) {
            case INT8 -> Byte.MAX_VALUE;
            case UINT8 -> 255;
            case INT16 -> Short.MAX_VALUE;
            case INT32 -> Integer.MAX_VALUE;
            case UINT32 -> 0xFFFFFFFFL;
            case INT64, UINT64 -> Long.MAX_VALUE;
            case BOOL -> 1;
            case FLOAT32 -> throw new IllegalArgumentException("float32 has no integer range");
        };
    }
}
