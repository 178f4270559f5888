// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import static io.kiln.base.DType.BOOL;
import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;
import static io.kiln.base.DType.UINT8;

import io.kiln.base.DType;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import java.util.Map;
import java.util.Set;

/**
 * A function of two elements of one type, with broadcasting. Arguments: lhs, rhs. Sums, differences and products of integers wrap
 * around.
 *
 * @param kind the function
 */
public record Binary(Kind kind) implements Op {
    public static final Map<Kind, Signature<Binary>> SIGNATURES = Signature.ofEach(Kind.class, Binary::signature);

    private static Signature<Binary> signature(Kind kind) {
        return Signature.of(Binary.class, kind.relay)
                .data("lhs", kind.dtypes)
                .data("rhs", operand -> operand.like("lhs"))
                .attributes(() -> new Binary(kind))
                .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
                .result((op, args) -> new TensorType(
                        Check.broadcast(args),
                        kind.isComparison() ? BOOL : args.get(0).dtype()));
    }

    @Override
    public Card<Binary> card() {
        return SIGNATURES.get(kind).of(this);
    }

    /** The functions; comparisons give bool, others the operands' type. */
    public enum Kind {
        ADD("add", FLOAT32, INT8, UINT8, INT16, INT32, INT64),
        SUBTRACT("subtract", FLOAT32, INT8, UINT8, INT16, INT32, INT64),
        MULTIPLY("multiply", FLOAT32, INT8, UINT8, INT16, INT32, INT64),
        /** For int32, truncated towards zero; a quotient by 0, which the reference kernel does not define, is 0. */
        DIVIDE("divide", FLOAT32, INT32, INT64),
        /** {@code lhs * 2^rhs}; only the low bits of rhs are used, 5 for int32 and 6 for int64. */
        LEFT_SHIFT("left_shift", INT32, INT64),
        /** {@code floor(lhs / 2^rhs)}; only the low bits of rhs are used, as above. */
        RIGHT_SHIFT("right_shift", INT32, INT64),
        BITWISE_AND("bitwise_and", INT32, INT64),
        BITWISE_OR("bitwise_or", INT32, INT64),
        BITWISE_XOR("bitwise_xor", INT32, INT64),
        /** {@code lhs > rhs ? lhs : rhs}: of a number and NaN, or of 0 and -0, the right operand (reference/maximum_minimum.h). */
        MAXIMUM("maximum", FLOAT32, INT8, INT16, INT32, INT64),
        /** {@code lhs < rhs ? lhs : rhs}, likewise. */
        MINIMUM("minimum", FLOAT32, INT8, INT16, INT32, INT64),
        /** The greater operand, or NaN if either is NaN, as in ONNX Runtime's Max and Clip. */
        MAXIMUM_OR_NAN("onnx.maximum", FLOAT32, INT8, INT16, INT32, INT64),
        /** The smaller operand, likewise. */
        MINIMUM_OR_NAN("onnx.minimum", FLOAT32, INT8, INT16, INT32, INT64),
        /** {@code floor(lhs / rhs)} of the exact quotient. */
        FLOOR_DIVIDE("floor_divide", FLOAT32),
        /** The remainder of {@link #FLOOR_DIVIDE}; it has the divisor's sign. */
        FLOOR_MOD("floor_mod", FLOAT32),
        /**
         * The power of lhs to rhs, as C's {@code pow}. Of int32 it is limited to 32 bits; a negative exponent, for which the reference kernel
         * fails, gives the quotient of 1 and the power, truncated, and the largest integer for 0.
         */
        POWER("power", FLOAT32, INT32),
        /** The angle of the point with ordinate lhs and abscissa rhs, from -pi to pi, as C's {@code atan2}. */
        ATAN2("tfl.atan2", FLOAT32),
        /** {@code (lhs - rhs)^2} (micro/kernels/squared_difference.cc). */
        SQUARED_DIFFERENCE("tfl.squared_difference", FLOAT32, INT32),
        /** The scale of int8 that covers the numbers from lhs to rhs and 0, see {@link io.kiln.ir.arith.DynamicRange}. */
        QUANTIZATION_SCALE("tfl.quantization_scale", FLOAT32),
        /** The zero point of int8 that covers the numbers from lhs to rhs and 0, likewise. */
        QUANTIZATION_ZERO_POINT("tfl.quantization_zero_point", FLOAT32),
        /**
         * {@code lhs >= 0 ? lhs : lhs * rhs}; Relay's {@code nn.prelu} supports only a vector for rhs
         * (micro/kernels/prelu_common.cc).
         */
        PRELU("tfl.prelu", FLOAT32),
        EQUAL("equal", FLOAT32, INT8, INT16, INT32, INT64, BOOL),
        NOT_EQUAL("not_equal", FLOAT32, INT8, INT16, INT32, INT64, BOOL),
        LESS("less", FLOAT32, INT8, INT16, INT32, INT64),
        LESS_EQUAL("less_equal", FLOAT32, INT8, INT16, INT32, INT64),
        GREATER("greater", FLOAT32, INT8, INT16, INT32, INT64),
        GREATER_EQUAL("greater_equal", FLOAT32, INT8, INT16, INT32, INT64),
        LOGICAL_AND("logical_and", BOOL),
        LOGICAL_OR("logical_or", BOOL);

        private final String relay;

        @SuppressWarnings("ImmutableEnumChecker") // Set.of makes it so
        private final Set<DType> dtypes;

        Kind(String relay, DType... dtypes) {
            this.relay = relay;
            this.dtypes = Set.of(dtypes);
        }

        /** The types of the operands. */
        public Set<DType> dtypes() {
            return dtypes;
        }

        /** Whether the result is bool for any operands. */
        public boolean isComparison() {
            return switch (this) {
                case EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL -> true;
                default -> false;
            };
        }
    }
}
