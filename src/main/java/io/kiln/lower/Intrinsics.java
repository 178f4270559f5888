// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT64;

import io.kiln.tir.Intrinsic;
import java.util.List;

/** The portable helpers that generated C calls; each is printed once into a file that uses it. */
public final class Intrinsics {
    /** Limits a value. */
    public static final Intrinsic CLAMP = Intrinsic.inFile("portable/kiln_clamp", List.of(INT32, INT32, INT32), INT32);

    /** Limits a value to int8. */
    public static final Intrinsic SATURATE_8 = Intrinsic.inFile("thumb/kiln_saturate_8", List.of(INT32), INT32);

    /** The upper half of a product. */
    public static final Intrinsic HIGH_WORD = Intrinsic.inFile("portable/kiln_high_word", List.of(INT32, INT32), INT32);

    /** {@link io.kiln.base.FixedPoint#saturatingRoundingDoublingHighMul} where both are not INT32_MIN. */
    public static final Intrinsic HIGH_MUL = Intrinsic.inFile("portable/kiln_high_mul", List.of(INT32, INT32), INT32);

    /** Requantization with a right shift of at least 1, where no step can overflow. */
    static final Intrinsic RESCALE =
            Intrinsic.inFile("portable/rescale/kiln_rescale", List.of(INT32, INT32, INT32), INT32);

    /** {@link #RESCALE} of values below 2^30, the doubled product of which one instruction rounds. */
    public static final Intrinsic RESCALE_SMALL =
            Intrinsic.inFile("portable/rescale/kiln_rescale_small", List.of(INT32, INT32, INT32), INT32);

    /** Requantization with any shift, positive to the left, in the wrapping arithmetic of the reference kernels. */
    public static final Intrinsic RESCALE_ANY =
            Intrinsic.inFile("portable/rescale/kiln_rescale_any", List.of(INT32, INT32, INT32), INT32);

    /** A saturating sum, for zero points of requantized values that may use all 32 bits. */
    static final Intrinsic ADD_SATURATED =
            Intrinsic.inFile("portable/kiln_add_saturated", List.of(INT32, INT32), INT32);

    /** Limits a value to int16. */
    public static final Intrinsic SATURATE_16 = Intrinsic.inFile("thumb/kiln_saturate_16", List.of(INT32), INT32);

    /** Accumulates both halves of two words: a sum plus the products of the lower and of the upper halves. */
    public static final Intrinsic SMLAD = Intrinsic.inFile("thumb2/kiln_smlad", List.of(INT32, INT32, INT32), INT32);

    /** A sum from its lower word, and a number that is less than {@code 1 << 16} below its upper bits. */
    public static final Intrinsic FROM_HALVES =
            Intrinsic.inFile("portable/matrix/kiln_from_halves", List.of(UINT32, INT32), INT64);

    /** Limits a value to 17 bits. */
    public static final Intrinsic SATURATE_17 = Intrinsic.inFile("thumb/kiln_saturate_17", List.of(INT32), INT32);

    /** A float, or a limit of 0 or less where it is less; NaN passes through. */
    static final Intrinsic AT_LEAST = Intrinsic.inFile("portable/kiln_at_least", List.of(FLOAT32, FLOAT32), FLOAT32);

    /** {@code sum + a * b}, rounded once where the core has one instruction for it, otherwise twice. */
    public static final Intrinsic MULTIPLY_ADD =
            Intrinsic.inFile("portable/kiln_multiply_add", List.of(FLOAT32, FLOAT32, FLOAT32), FLOAT32);

    /** Requantizes a 64-bit accumulator by the upper half of a multiplier, rounded once. */
    static final Intrinsic RESCALE_WIDE =
            Intrinsic.inFile("portable/rescale/kiln_rescale_wide", List.of(INT64, INT32, INT32), INT32);

    /**
     * Requantizes a 32-bit accumulator by the high word of a product; the multiplier includes the shift, except for the 32 bits
     * that the high word drops.
     */
    public static final Intrinsic RESCALE_HIGH =
            Intrinsic.inFile("portable/rescale/kiln_rescale_high", List.of(INT32, INT32), INT32);

    /** Requantizes a 32-bit accumulator as {@link #RESCALE_WIDE} does, with a shift that is smaller by 16. */
    static final Intrinsic RESCALE_NARROW =
            Intrinsic.inFile("portable/rescale/kiln_rescale_narrow", List.of(INT32, INT32, INT32), INT32);

    /** {@link io.kiln.base.FixedPoint#multiplyRoundingUpward} limited to 31 bits, so that a zero point can be added. */
    public static final Intrinsic RESCALE_UPWARD =
            Intrinsic.inFile("portable/rescale/kiln_rescale_upward", List.of(INT32, INT32, INT32), INT32);

    /** {@link io.kiln.base.FixedPoint#multiplyRoundingAway}, limited to 31 bits as {@link #RESCALE_UPWARD} is. */
    static final Intrinsic RESCALE_TO_NEAREST =
            Intrinsic.inFile("portable/rescale/kiln_rescale_to_nearest", List.of(INT32, INT32, INT32), INT32);

    /** Leading zero bits of a positive value. */
    public static final Intrinsic LEADING_ZEROS =
            Intrinsic.inFile("portable/kiln_leading_zeros", List.of(UINT32), INT32);

    /** A quotient by a power of two, halves to even. */
    public static final Intrinsic ROUND_EVEN =
            Intrinsic.inFile("portable/rescale/kiln_round_even", List.of(UINT64, INT32), UINT64);

    /** {@link io.kiln.base.FixedPoint#multiplyInSinglePrecision} in integers, limited to 31 bits as {@link #RESCALE_UPWARD} is. */
    static final Intrinsic RESCALE_SINGLE = Intrinsic.inFile(
            "portable/rescale/kiln_rescale_single", List.of(INT32, INT32, INT32), INT32, LEADING_ZEROS, ROUND_EVEN);

    /**
     * A product of double precision without floating point, rounded to an integer with halves away from zero, limited as
     * {@link #RESCALE_UPWARD} is.
     */
    static final Intrinsic RESCALE_REAL =
            Intrinsic.inFile("portable/rescale/kiln_rescale_real", List.of(INT64, INT64, INT32), INT32, LEADING_ZEROS);

    /** A product plus an offset, shifted right without rounding, limited as {@link #RESCALE_UPWARD} is. */
    public static final Intrinsic RESCALE_FLOOR =
            Intrinsic.inFile("portable/rescale/kiln_rescale_floor", List.of(INT32, INT32, INT64, INT32), INT32);

    /** {@code 1 / (1 + x)} for x in [0, 1) by three Newton steps on Q31, as gemmlowp defines it. */
    public static final Intrinsic RECIPROCAL =
            Intrinsic.inFile("portable/kiln_reciprocal", List.of(INT32), INT32, HIGH_MUL);

    private static final Intrinsic PRODUCT_SHORT =
            Intrinsic.inFile("portable/gate/kiln_product_short", List.of(INT32, INT32), INT32);

    private static final Intrinsic EXP_SHORT =
            Intrinsic.inFile("portable/gate/kiln_exp_short", List.of(INT32, INT32), INT32, PRODUCT_SHORT);

    private static final Intrinsic RECIPROCAL_SHORT =
            Intrinsic.inFile("portable/gate/kiln_reciprocal_short", List.of(INT32), INT32, PRODUCT_SHORT);

    /** {@link io.kiln.ir.arith.Int16Functions#logistic}. */
    public static final Intrinsic LOGISTIC_SHORT = Intrinsic.inFile(
            "portable/gate/kiln_logistic_short", List.of(INT32), INT32, PRODUCT_SHORT, EXP_SHORT, RECIPROCAL_SHORT);

    /** {@link io.kiln.ir.arith.Int16Functions#tanh}. */
    public static final Intrinsic TANH_SHORT = Intrinsic.inFile(
            "portable/gate/kiln_tanh_short", List.of(INT32, INT32), INT32, PRODUCT_SHORT, EXP_SHORT, RECIPROCAL_SHORT);

    private Intrinsics() {}
}
