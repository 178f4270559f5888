// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.UnsignedOrder;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import java.util.Set;

/** Functions of integers for which the IR has no operator: computed in a wider type, and narrowed again. */
final class WiderElements {
    /** Functions that the IR lacks for integers of less than 32 bits. */
    private static final Set<Binary.Kind> NEVER_SHORT = Set.of(
            Binary.Kind.DIVIDE,
            Binary.Kind.PRELU,
            Binary.Kind.BITWISE_AND,
            Binary.Kind.BITWISE_OR,
            Binary.Kind.BITWISE_XOR);

    private WiderElements() {}

    /**
     * A function of two elements of a model's type. Sums, differences and products wrap around in that type.
     *
     * @param type element type of both in the model
     */
    static Arg apply(Formulas e, Binary.Kind kind, ElementType type, Arg lhs, Arg rhs) {
        DType held = e.dtype(lhs);
        if (held == DType.UINT64) {
            return ofLongs(e, kind, lhs, rhs);
        }
        if (held.isFloat()) {
            return e.binary(orNan(kind), lhs, rhs);
        }
        DType wide = wide(kind, type);
        Arg result = e.binary(kind, e.cast(lhs, wide), e.cast(rhs, wide));
        if (kind.isComparison()) {
            return result;
        }
        return narrow(e, e.cast(result, held), type);
    }

    /** ONNX Runtime's extremes of two floats are NaN if either is. */
    private static Binary.Kind orNan(Binary.Kind kind) {
        return switch (kind) {
            case MAXIMUM -> Binary.Kind.MAXIMUM_OR_NAN;
            case MINIMUM -> Binary.Kind.MINIMUM_OR_NAN;
            default -> kind;
        };
    }

    private static Arg ofLongs(Formulas e, Binary.Kind kind, Arg lhs, Arg rhs) {
        boolean isOrder = kind.isComparison() || kind == Binary.Kind.MAXIMUM || kind == Binary.Kind.MINIMUM;
        if (isOrder) {
            Arg result = e.binary(kind, UnsignedOrder.ordered(e, lhs), UnsignedOrder.ordered(e, rhs));
            return kind.isComparison() ? result : UnsignedOrder.original(e, result, DType.UINT64);
        }
        Arg a = e.cast(lhs, DType.INT64);
        Arg b = e.cast(rhs, DType.INT64);
        return e.cast(
                kind == Binary.Kind.DIVIDE ? UnsignedOrder.quotient(e, a, b) : e.binary(kind, a, b), DType.UINT64);
    }

    private static DType wide(Binary.Kind kind, ElementType type) {
        DType held = type.held().orElseThrow();
        boolean wraps = kind == Binary.Kind.ADD || kind == Binary.Kind.SUBTRACT || kind == Binary.Kind.MULTIPLY;
        return switch (held) {
            case UINT8 -> wraps ? held : DType.INT32;
            case INT8, INT16 -> NEVER_SHORT.contains(kind) ? DType.INT32 : held;
            case UINT32 -> DType.INT64;
            default -> held;
        };
    }

    /** Elements of uint16 are held in 32 bits. */
    static Arg narrow(Formulas e, Arg value, ElementType type) {
        if (type != ElementType.UINT16) {
            return value;
        }
        Arg half = e.number(Short.SIZE, DType.INT32);
        Arg high = e.binary(Binary.Kind.LEFT_SHIFT, value, half);
        Arg longer = e.cast(e.cast(high, DType.UINT32), DType.INT64);
        return e.cast(e.binary(Binary.Kind.RIGHT_SHIFT, longer, e.number(Short.SIZE, DType.INT64)), DType.INT32);
    }
}
