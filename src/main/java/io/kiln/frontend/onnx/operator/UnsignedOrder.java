// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;

/** Functions of uint32 and uint64, composed of those of int64, the widest integers that the IR's operators compare, divide and shift. */
public final class UnsignedOrder {
    private UnsignedOrder() {}

    /** The elements as int64 in the same order, which for uint64 are less by 2^63; other types are unchanged. */
    public static Arg ordered(Formulas e, Arg value) {
        return switch (e.dtype(value)) {
            case UINT32 -> e.cast(value, DType.INT64);
            case UINT64 -> flipped(e, e.cast(value, DType.INT64));
            default -> value;
        };
    }

    /** What {@link #ordered} made of elements of a type, as that type again. */
    public static Arg original(Formulas e, Arg value, DType dtype) {
        return e.cast(dtype == DType.UINT64 ? flipped(e, value) : value, dtype);
    }

    /** The highest bit flipped. */
    private static Arg flipped(Formulas e, Arg value) {
        return e.add(value, Long.MIN_VALUE);
    }

    /**
     * The quotient of uint64 numbers, held as int64; division by 0 gives 1. A divisor from 2^63 on divides once or not
     * at all. For a smaller divisor, half of the dividend is divided and the quotient doubled, which is at most one too small.
     */
    public static Arg quotient(Formulas e, Arg dividend, Arg divisor) {
        Arg one = e.number(1, DType.INT64);
        Arg none = e.number(0, DType.INT64);
        Arg isLarge = e.less(divisor, none);
        Arg doubled = e.multiply(e.divide(shiftedRight(e, dividend, one), divisor), 2);
        Arg least = e.where(isLarge, none, doubled);
        Arg rest = e.subtract(dividend, e.multiply(least, divisor));
        Arg fits = e.binary(Binary.Kind.GREATER_EQUAL, flipped(e, rest), flipped(e, divisor));
        return e.where(fits, e.add(least, one), least);
    }

    /** Numbers of uint64, held as int64, divided by 2 to the power of others from 0 to 63, rounded down. */
    public static Arg shiftedRight(Formulas e, Arg value, Arg bits) {
        Arg none = e.number(0, DType.INT64);
        Arg half = e.binary(Binary.Kind.RIGHT_SHIFT, value, e.number(1, DType.INT64));
        Arg positive = e.where(e.less(value, none), flipped(e, half), half);
        Arg shifted = e.binary(Binary.Kind.RIGHT_SHIFT, positive, e.add(bits, -1));
        return e.where(e.equal(bits, none), value, shifted);
    }
}
