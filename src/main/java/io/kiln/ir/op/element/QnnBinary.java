// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.arith.TflQuotient;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import java.util.Map;
import java.util.Set;

/**
 * A function of two quantized elements with broadcasting, in the arithmetic of the reference kernels of TensorFlow Lite Micro or, where
 * multipliers are derived in the other precision, of TensorFlow Lite. Sums are {@link QnnAdd}.
 *
 * <p>Arguments: lhs, rhs, lhs scale, lhs zero point, rhs scale, rhs zero point, and except for comparisons output
 * scale, output zero point. Below, x and y are the elements less their zero points; the output's zero point is added to
 * results, which are saturated.
 *
 * @param kind the function
 * @param precision of products and quotients of scales
 */
public record QnnBinary(Kind kind, FloatPrecision precision) implements Op {
    public static final Map<Kind, Signature<QnnBinary>> SIGNATURES = Signature.ofEach(Kind.class, QnnBinary::signature);

    private static Signature<QnnBinary> signature(Kind kind) {
        return signature(kind, Signature.of(QnnBinary.class, kind.relay));
    }

    @Override
    public Card<QnnBinary> card() {
        return SIGNATURES.get(kind).of(this);
    }

    private static Signature<QnnBinary> signature(Kind kind, Signature.Draft<QnnBinary> draft) {
        boolean isPrelu = kind == Kind.PRELU;
        draft.data("lhs", kind.dtypes)
                .data(
                        "rhs",
                        rhs -> isPrelu
                                ? rhs.fits((what, type, op, args) -> Check.dtype(what, type, INT8))
                                : rhs.like("lhs"))
                .quantization("lhs")
                .scale("rhs scale")
                .zeroPoint(
                        "rhs zero point",
                        (op, args) -> isPrelu ? INT8 : args.data().dtype());
        if (!kind.isComparison()) {
            draft.quantization("output");
        }
        if (kind.relay.startsWith("qnn.")) {
            // Relay's own operators of these names round differently.
            draft.says("rounding", "TFLITE");
        }
        FloatPrecision[] precisions =
                kind.hasPrecisions() ? FloatPrecision.values() : new FloatPrecision[] {kind.precision};
        draft.attributes(
                        Attribute.name("precision", QnnBinary::precision, precisions)
                                .unless("precision", kind.precision),
                        precision -> new QnnBinary(kind, precision))
                .traits(Trait.TAKES_CLIP, Trait.ELEMENTWISE)
                .own()
                .rules(QnnBinary::rules);
        return kind.isComparison() ? draft.broadcast(DType.BOOL) : draft.broadcast("lhs");
    }

    /** The functions; operands are both int8 or both int16, unless they say otherwise. */
    public enum Kind {
        /**
         * As {@link QnnAdd}, with the difference of the scaled operands; the multipliers are computed in single
         * precision by TensorFlow Lite Micro (sub_common.cc), in double precision by TensorFlow Lite (sub.cc).
         */
        SUBTRACT("qnn.subtract", FloatPrecision.SINGLE, INT8, INT16),
        /**
         * {@code x * y} rescaled by {@code lhsScale * rhsScale / outputScale} (integer_ops/mul.h), in double precision by TensorFlow Lite
         * Micro (mul_common.cc), in single precision by TensorFlow Lite (mul.cc).
         */
        MULTIPLY("qnn.mul", INT8, INT16),
        /**
         * {@code x / y} of int8 by the fixed-point reciprocal of y, rescaled by {@code lhsScale / (rhsScale *
         * outputScale)} (reference/div.h); y = 0, which the reference kernel does not define, is treated as 1.
         */
        DIVIDE("tfl.qnn_divide", INT8),
        /**
         * Both operands scaled as for a sum, with 7 more bits for int8 and none for int16, then squared
         * (micro/kernels/squared_difference.cc).
         */
        SQUARED_DIFFERENCE("tfl.qnn_squared_difference", INT8, INT16),
        /**
         * {@code x >= 0 ? x : x * y}, each rescaled; rhs is always int8 (reference/prelu.h). Quotients are in double precision in TensorFlow Lite
         * Micro (prelu_common.cc), in single precision in TensorFlow Lite (activations.cc).
         */
        PRELU("tfl.qnn_prelu", INT8, INT16),
        /**
         * Comparisons: both operands shifted left by 8 and rescaled by their scales, which are below 1
         * (reference/comparisons.h).
         */
        EQUAL("tfl.qnn_equal", INT8),
        NOT_EQUAL("tfl.qnn_not_equal", INT8),
        LESS("tfl.qnn_less", INT8),
        LESS_EQUAL("tfl.qnn_less_equal", INT8),
        /** Also for int16. */
        GREATER("tfl.qnn_greater", INT8, INT16),
        GREATER_EQUAL("tfl.qnn_greater_equal", INT8);

        private final String relay;

        @SuppressWarnings("ImmutableEnumChecker") // Set.of makes it so
        private final Set<DType> dtypes;

        private final FloatPrecision precision;

        Kind(String relay, DType... dtypes) {
            this(relay, FloatPrecision.DOUBLE, dtypes);
        }

        Kind(String relay, FloatPrecision precision, DType... dtypes) {
            this.relay = relay;
            this.precision = precision;
            this.dtypes = Set.of(dtypes);
        }

        /** Whether the two libraries derive its multipliers in different precisions. */
        public boolean hasPrecisions() {
            return this == SUBTRACT || this == MULTIPLY || this == PRELU;
        }

        public boolean isComparison() {
            return switch (this) {
                case EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL -> true;
                case SUBTRACT, MULTIPLY, DIVIDE, SQUARED_DIFFERENCE, PRELU -> false;
            };
        }
    }

    public QnnBinary {
        Check.that(
                precision == kind.precision || kind.hasPrecisions(),
                kind.relay + " in precision " + precision + " is not supported");
    }

    /** The function in TensorFlow Lite Micro's arithmetic. */
    public QnnBinary(Kind kind) {
        this(kind, kind.precision);
    }

    /** The function in TensorFlow Lite's arithmetic. */
    public static QnnBinary ofLite(Kind kind) {
        boolean isSingle = kind.precision == FloatPrecision.SINGLE;
        return kind.hasPrecisions()
                ? new QnnBinary(kind, isSingle ? FloatPrecision.DOUBLE : FloatPrecision.SINGLE)
                : new QnnBinary(kind);
    }

    /** The multiplier of a product of scales, over that of the output. */
    public QuantizedMultiplier multiplier(float lhsScale, float rhsScale, float outputScale) {
        return QuantizedMultiplier.of(precision.rounded(precision.rounded((double) lhsScale * rhsScale) / outputScale));
    }

    /** The multipliers of {@link Kind#SUBTRACT}. */
    public TflAddParameters ofDifference(DType dtype, float lhsScale, float rhsScale, float outputScale) {
        return precision == FloatPrecision.SINGLE
                ? TflAddParameters.ofDifference(dtype, lhsScale, rhsScale, outputScale)
                : TflAddParameters.of(dtype, lhsScale, rhsScale, outputScale);
    }

    private static float scale(Arguments args, int position) {
        return args.constant(position).orElseThrow().real(0);
    }

    /** Checks for what the reference kernels refuse, or leave undefined. */
    private void rules(Arguments args) {
        boolean areScales = true;
        for (int i = operands(); i < arity(); i += 2) {
            areScales &= args.constant(i)
                    .filter(scale -> Arguments.isScale(scale.real(0)))
                    .isPresent();
        }
        if (areScales) {
            args.require(
                    TflBinaryScales.areDefined(
                            this,
                            args.data().dtype(),
                            scale(args, 2),
                            scale(args, 4),
                            kind.isComparison() ? 1 : scale(args, 6)),
                    "the scales of " + name() + " are too far apart",
                    "scales that the fixed point of " + name() + " can represent");
        }
    }

    /** Checks for which scales the reference kernels define the result of two quantized elements. */
    public static final class TflBinaryScales {
        private TflBinaryScales() {}

        /**
         * Whether the multipliers are in the reference kernel's ranges. The scales must be positive and finite.
         *
         * @param dtype type of the left operand
         * @param outputScale ignored for comparisons
         */
        public static boolean areDefined(QnnBinary op, DType dtype, float lhsScale, float rhsScale, float outputScale) {
            try {
                return switch (op.kind()) {
                    case SUBTRACT ->
                        op.ofDifference(dtype, lhsScale, rhsScale, outputScale).isBelowOne();
                    case SQUARED_DIFFERENCE ->
                        TflAddParameters.ofSquaredDifference(dtype, lhsScale, rhsScale, outputScale)
                                        .output()
                                        .multiplier()
                                > 0;
                    case DIVIDE ->
                        TflQuotient.of(lhsScale, rhsScale, outputScale).isDefined();
                    case MULTIPLY ->
                        op.multiplier(lhsScale, rhsScale, outputScale).multiplier() >= 0;
                    case PRELU ->
                        op.multiplier(lhsScale, rhsScale, outputScale).multiplier() >= 0
                                && op.multiplier(lhsScale, 1, outputScale).multiplier() >= 0;
                    case EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL -> lhsScale < 1 && rhsScale < 1;
                };
            } catch (IllegalArgumentException notFinite) {
                return false;
            }
        }
    }
}
