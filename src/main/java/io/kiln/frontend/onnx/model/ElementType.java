// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.model;

import io.kiln.base.DType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Element types of ONNX ({@code TensorProto.DataType}). Kiln computes all floats in single precision, and holds
 * integers of a width that it does not have in the next wider type.
 */
public enum ElementType {
    UNDEFINED(0, 0),
    FLOAT(1, 32, DType.FLOAT32),
    UINT8(2, 8, DType.UINT8),
    INT8(3, 8, DType.INT8),
    UINT16(4, 16, DType.INT32),
    INT16(5, 16, DType.INT16),
    INT32(6, 32, DType.INT32),
    INT64(7, 64, DType.INT64),
    STRING(8, 0),
    BOOL(9, 8, DType.BOOL),
    FLOAT16(10, 16, DType.FLOAT32),
    DOUBLE(11, 64, DType.FLOAT32),
    UINT32(12, 32, DType.UINT32),
    UINT64(13, 64, DType.UINT64),
    COMPLEX64(14, 64),
    COMPLEX128(15, 128),
    BFLOAT16(16, 16, DType.FLOAT32),
    FLOAT8E4M3FN(17, 8, DType.FLOAT32),
    FLOAT8E4M3FNUZ(18, 8, DType.FLOAT32),
    FLOAT8E5M2(19, 8, DType.FLOAT32),
    FLOAT8E5M2FNUZ(20, 8, DType.FLOAT32),
    UINT4(21, 4, DType.UINT8),
    INT4(22, 4, DType.INT8),
    FLOAT4E2M1(23, 4, DType.FLOAT32),
    FLOAT8E8M0(24, 8, DType.FLOAT32),
    UINT2(25, 2, DType.UINT8),
    INT2(26, 2, DType.INT8);

    private final int code;
    private final int bits;
    private final Optional<DType> held;

    ElementType(int code, int bits) {
        this(code, bits, Optional.empty());
    }

    ElementType(int code, int bits, DType held) {
        this(code, bits, Optional.of(held));
    }

    ElementType(int code, int bits, Optional<DType> held) {
        this.code = code;
        this.bits = bits;
        this.held = held;
    }

    /** The type of a number in the file. */
    public static Optional<ElementType> ofCode(int code) {
        return Stream.of(values()).filter(type -> type.code == code).findFirst();
    }

    /** The type that the IR holds without a change. */
    public static ElementType of(DType dtype) {
        return Stream.of(values())
                .filter(type -> type.isHeldAs(dtype) && type.bits == 8 * dtype.bytes())
                .findFirst()
                .orElseThrow();
    }

    /** Bits of an element in {@code raw_data}; 0 for elements without a fixed size. */
    public int bits() {
        return bits;
    }

    /** The type in which the IR holds the elements; empty for types that Kiln does not support. */
    public Optional<DType> held() {
        return held;
    }

    /** Whether a number is one of this type, or for floats one that rounds to a finite one. */
    public boolean holds(BigDecimal number) {
        if (isFloat()) {
            return Float.isFinite(number.floatValue());
        }
        boolean isUnsigned = this == BOOL || isUnsigned();
        int magnitude = this == BOOL ? 1 : isUnsigned ? bits : bits - 1;
        BigDecimal limit = new BigDecimal(BigInteger.ONE.shiftLeft(magnitude));
        boolean isInside =
                number.compareTo(limit) < 0 && number.compareTo(isUnsigned ? BigDecimal.ZERO : limit.negate()) >= 0;
        return isInside && (number.signum() == 0 || number.stripTrailingZeros().scale() <= 0);
    }

    /** Whether the IR holds the elements in this type. */
    public boolean isHeldAs(DType dtype) {
        return held.equals(Optional.of(dtype));
    }

    /** Whether only constants have elements of this type: floats of 8 and 4 bits. */
    public boolean isOfConstants() {
        return isFloat() && bits <= Byte.SIZE;
    }

    /** Whether the elements are integers of less than 8 bits. */
    public boolean isPartOfByte() {
        return bits > 0 && bits < Byte.SIZE && !isFloat();
    }

    /** Whether the elements are integers without a sign. */
    public boolean isUnsigned() {
        return !isFloat() && name().startsWith("U");
    }

    /** Whether the elements are real numbers that Kiln supports. */
    public boolean isFloat() {
        return isHeldAs(DType.FLOAT32);
    }

    /** ONNX's name, in lower case. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
