// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT64;

import io.kiln.lower.Intrinsics;
import io.kiln.tir.Intrinsic;
import java.util.List;

/** Helpers of generated C for functions of one or two elements of 32 or 64 bits, and for conversions. */
public final class ElementIntrinsics {
    /** {@link io.kiln.ir.op.element.Binary.Kind#LEFT_SHIFT}. */
    static final Intrinsic LEFT_SHIFT = Intrinsic.inFile("portable/kiln_left_shift", List.of(INT32, INT32), INT32);

    /** {@link io.kiln.ir.op.element.Binary.Kind#RIGHT_SHIFT}. */
    static final Intrinsic RIGHT_SHIFT = Intrinsic.inFile("portable/kiln_right_shift", List.of(INT32, INT32), INT32);

    /** {@link io.kiln.ir.op.element.FixedPointMultiply}, halves upward. */
    static final Intrinsic FIXED_POINT_UPWARD =
            Intrinsic.inFile("portable/kiln_fixed_point_upward", List.of(INT32, INT32, INT32), INT32);

    /** {@link io.kiln.ir.op.element.FixedPointMultiply}, halves away from zero. */
    static final Intrinsic FIXED_POINT_TO_NEAREST =
            Intrinsic.inFile("portable/kiln_fixed_point_to_nearest", List.of(INT32, INT32, INT32), INT32);

    /** The difference, which wraps around. */
    static final Intrinsic SUBTRACT_64 = Intrinsic.inFile("portable/kiln_subtract_64", List.of(INT64, INT64), INT64);

    /** The product, which wraps around. */
    static final Intrinsic MULTIPLY_64 = Intrinsic.inFile("portable/kiln_multiply_64", List.of(INT64, INT64), INT64);

    /** The quotient towards zero, defined for all operands. */
    static final Intrinsic DIVIDE_64 = Intrinsic.inFile("portable/kiln_divide_64", List.of(INT64, INT64), INT64);

    /** {@link io.kiln.ir.op.element.Binary.Kind#LEFT_SHIFT}. */
    static final Intrinsic LEFT_SHIFT_64 =
            Intrinsic.inFile("portable/kiln_left_shift_64", List.of(INT64, INT64), INT64);

    /** {@link io.kiln.ir.op.element.Binary.Kind#RIGHT_SHIFT}. */
    static final Intrinsic RIGHT_SHIFT_64 =
            Intrinsic.inFile("portable/kiln_right_shift_64", List.of(INT64, INT64), INT64);

    /** A float truncated towards zero; it saturates, and NaN becomes 0. */
    static final Intrinsic FLOAT_TO_INT_64 = Intrinsic.inFile("portable/kiln_float_to_int_64", List.of(FLOAT32), INT64);

    /** A float truncated towards zero as an unsigned integer; it saturates, and NaN becomes 0. */
    static final Intrinsic FLOAT_TO_UINT_64 =
            Intrinsic.inFile("portable/kiln_float_to_uint_64", List.of(FLOAT32), UINT64);

    static final Intrinsic FMODF = Intrinsic.libm("fmodf", 2);
    static final Intrinsic COPYSIGNF = Intrinsic.libm("copysignf", 2);
    static final Intrinsic LOGF = Intrinsic.libm("logf", 1);
    static final Intrinsic FLOORF = Intrinsic.libm("floorf", 1);

    /** The sum of 64 bits, which wraps around. */
    public static final Intrinsic ADD_64 = Intrinsic.inFile("portable/kiln_add_64", List.of(INT64, INT64), INT64);

    /** The quotient towards zero, defined for all operands as by Arm's SDIV. */
    static final Intrinsic DIVIDE = Intrinsic.inFile("portable/kiln_divide", List.of(INT32, INT32), INT32);

    /** A sum plus the product of a multiplier and an int16, shifted by 16 bits to the right. */
    static final Intrinsic ADD_SCALED =
            Intrinsic.inFile("portable/kiln_add_scaled", List.of(INT32, INT32, INT32), INT32);

    /** A value if another one is negative, otherwise 0. */
    static final Intrinsic IF_NEGATIVE = Intrinsic.inFile("portable/kiln_if_negative", List.of(INT32, INT32), INT32);

    /** A value less one if another one is negative. */
    static final Intrinsic LESS_ONE_IF_NEGATIVE =
            Intrinsic.inFile("elementwise/kiln_less_one_if_negative", List.of(INT32, INT32), INT32);

    /**
     * The type of double-precision numbers without floating point, with which {@link #QUANTIZATION_SCALE} and
     * {@link #QUANTIZATION_ZERO_POINT} compute.
     */
    public static final Intrinsic REAL = Intrinsic.inFile("portable/kiln_real", List.of(FLOAT32), FLOAT32);

    /** {@link io.kiln.ir.op.element.Binary.Kind#QUANTIZATION_SCALE}. */
    public static final Intrinsic QUANTIZATION_SCALE =
            Intrinsic.inFile("portable/kiln_quantization_scale", List.of(FLOAT32, FLOAT32), FLOAT32, REAL);

    /** {@link io.kiln.ir.op.element.Binary.Kind#QUANTIZATION_ZERO_POINT}. */
    public static final Intrinsic QUANTIZATION_ZERO_POINT = Intrinsic.inFile(
            "portable/kiln_quantization_zero_point", List.of(FLOAT32, FLOAT32), FLOAT32, REAL, QUANTIZATION_SCALE);

    /** The bits of a float. */
    static final Intrinsic FLOAT_TO_BITS =
            Intrinsic.inFile("portable/single/kiln_float_to_bits", List.of(FLOAT32), INT32);

    /** The float of these bits. */
    static final Intrinsic BITS_TO_FLOAT =
            Intrinsic.inFile("portable/single/kiln_bits_to_float", List.of(INT32), FLOAT32);

    /** {@link io.kiln.ir.op.element.Binary.Kind#FLOOR_MOD}. */
    static final Intrinsic FLOOR_MOD =
            Intrinsic.inFile("portable/kiln_floor_mod", List.of(FLOAT32, FLOAT32), FLOAT32, FMODF);

    /**
     * {@link io.kiln.ir.op.element.Binary.Kind#FLOOR_DIVIDE}: from the exact remainder, because the quotient of floats
     * may round up.
     */
    static final Intrinsic FLOOR_DIVIDE =
            Intrinsic.inFile("portable/kiln_floor_divide", List.of(FLOAT32, FLOAT32), FLOAT32, FMODF, FLOORF);

    /** {@link io.kiln.ir.op.element.Binary.Kind#POWER} of floats. */
    static final Intrinsic POWER =
            Intrinsic.inFile("portable/kiln_power", List.of(FLOAT32, FLOAT32), FLOAT32, Intrinsic.EXPF, LOGF, FLOORF);

    /** {@link io.kiln.ir.op.element.Binary.Kind#POWER} of int32. */
    static final Intrinsic POWER_32 = Intrinsic.inFile("portable/kiln_power_32", List.of(INT32, INT32), INT32);

    /** {@link io.kiln.ir.op.element.Binary.Kind#ATAN2}. */
    static final Intrinsic ATAN2 =
            Intrinsic.inFile("portable/kiln_atan2", List.of(FLOAT32, FLOAT32), FLOAT32, COPYSIGNF);

    /** {@link io.kiln.ir.op.element.Unary.Kind#ERFC}. */
    static final Intrinsic ERFC = Intrinsic.inFile("portable/kiln_erfc", List.of(FLOAT32), FLOAT32, Intrinsic.EXPF);

    /** A float truncated towards zero; it saturates, and NaN becomes 0. */
    static final Intrinsic FLOAT_TO_INT = Intrinsic.inFile("portable/kiln_float_to_int", List.of(FLOAT32), INT32);

    /** A float truncated towards zero as an unsigned integer; it saturates, and NaN becomes 0. */
    static final Intrinsic FLOAT_TO_UINT = Intrinsic.inFile("portable/kiln_float_to_uint", List.of(FLOAT32), UINT32);

    /** {@link io.kiln.ir.arith.TflQuotient#apply}, given the divisor's reciprocal and the shift of the scales less that of the reciprocal. */
    static final Intrinsic QUOTIENT = Intrinsic.inFile(
            "portable/kiln_quotient",
            List.of(INT32, INT32, INT32, INT32),
            INT32,
            Intrinsics.HIGH_MUL,
            Intrinsics.LEADING_ZEROS,
            Intrinsics.RESCALE_ANY);

    /** A float below 2^22 rounded, halves to even. */
    static final Intrinsic ROUND_SMALL = Intrinsic.inFile("portable/kiln_round_small", List.of(FLOAT32), FLOAT32);

    /** {@link io.kiln.ir.arith.HalfRounding#toFloat16}. */
    static final Intrinsic ROUND_FLOAT16 =
            Intrinsic.inFile("portable/single/kiln_round_float16", List.of(FLOAT32), FLOAT32, Intrinsics.ROUND_EVEN);

    /** {@link io.kiln.ir.arith.HalfRounding#toBfloat16}. */
    static final Intrinsic ROUND_BFLOAT16 =
            Intrinsic.inFile("portable/single/kiln_round_bfloat16", List.of(FLOAT32), FLOAT32);

    /** An integer in the order of {@link io.kiln.ir.arith.FloatKeys}. */
    static final Intrinsic FLOAT_KEY = Intrinsic.inFile("portable/single/kiln_float_key", List.of(FLOAT32), INT32);

    /** Gives back its argument, a power of two, hidden from clang, which would miscompile a multiplication by the constant on MVE. */
    static final Intrinsic POWER_OF_TWO = Intrinsic.inFile("elementwise/kiln_power_of_two", List.of(FLOAT32), FLOAT32);

    private ElementIntrinsics() {}
}
