// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.UINT32;

import io.kiln.tir.Intrinsic;
import java.util.List;

/** Helpers of generated C for functions of two elements and for conversions. */
public final class ElementIntrinsics {
    private static final Intrinsic FMODF = Intrinsic.libm("fmodf", 2);
    private static final Intrinsic FLOORF = Intrinsic.libm("floorf", 1);

    /** The sum of 64 bits, which wraps around. */
    public static final Intrinsic ADD_64 =
            new Intrinsic("kiln_add_64", List.of(INT64, INT64), INT64, "", """
                /* a + b, wrapping around. */
                static inline int64_t kiln_add_64(int64_t a, int64_t b) {
                  return (int64_t)((uint64_t)a + (uint64_t)b);
                }
                """, List.of());

    /** The quotient towards zero, defined for all operands as Arm's SDIV defines it. */
    public static final Intrinsic DIVIDE =
            new Intrinsic("kiln_divide", List.of(INT32, INT32), INT32, "", """
                /* a / b towards zero; 0 for b = 0, and INT32_MIN / -1 wraps around. */
                static inline int32_t kiln_divide(int32_t a, int32_t b) {
                  return b == 0 ? 0 : (b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b);
                }
                """, List.of());

    /** {@link io.kiln.ir.op.Binary.Kind#FLOOR_MOD}. */
    public static final Intrinsic FLOOR_MOD =
            new Intrinsic("kiln_floor_mod", List.of(FLOAT32, FLOAT32), FLOAT32, "", """
                /* The remainder of a / b that has the sign of b. */
                static inline float kiln_floor_mod(float a, float b) {
                  const float rest = fmodf(a, b);
                  return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
                }
                """, List.of(FMODF));

    /** {@link io.kiln.ir.op.Binary.Kind#FLOOR_DIVIDE}: from the exact remainder, since the quotient of floats may round up. */
    public static final Intrinsic FLOOR_DIVIDE =
            new Intrinsic("kiln_floor_divide", List.of(FLOAT32, FLOAT32), FLOAT32, "", """
                /* floor(a / b) of the exact quotient; what is infinite or no number is so of floats. */
                static inline float kiln_floor_divide(float a, float b) {
                  const float rest = fmodf(a, b);
                  const float whole = (a - rest) / b;
                  const float quotient = rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? whole - 1.0f : whole;
                  const float below = floorf(quotient);
                  if (rest != rest || b - b != 0.0f) {
                    return floorf(a / b);
                  }
                  return quotient - below > 0.5f ? below + 1.0f : below;
                }
                """, List.of(FMODF, FLOORF));

    /** A float cut towards zero; it saturates, and NaN is 0. */
    public static final Intrinsic FLOAT_TO_INT =
            new Intrinsic("kiln_float_to_int", List.of(FLOAT32), INT32, "", """
                /* value cut towards zero and limited to 32 bits; 0 for NaN. */
                static inline int32_t kiln_float_to_int(float value) {
                  if (value >= -2147483648.0f && value < 2147483648.0f) {
                    return (int32_t)value;
                  }
                  return value > 0.0f ? INT32_MAX : (value < 0.0f ? INT32_MIN : 0);
                }
                """, List.of());

    /** Likewise without a sign. */
    public static final Intrinsic FLOAT_TO_UINT =
            new Intrinsic("kiln_float_to_uint", List.of(FLOAT32), UINT32, "", """
                /* value cut towards zero and limited to 32 bits without a sign; 0 for NaN. */
                static inline uint32_t kiln_float_to_uint(float value) {
                  return value >= 4294967296.0f ? UINT32_MAX : (value > 0.0f ? (uint32_t)value : 0u);
                }
                """, List.of());

    /** {@link io.kiln.ir.arith.TflQuotient#apply}, given the divisor's reciprocal and the shift of the scales less that of the reciprocal. */
    public static final Intrinsic QUOTIENT = new Intrinsic(
            "kiln_quotient",
            List.of(INT32, INT32, INT32, INT32),
            INT32,
            "",
            """
            /* dividend * reciprocal * multiplier * 2^shift, the dividend shifted left as far as it goes before it is multiplied. */
            static inline int32_t kiln_quotient(int32_t dividend, int32_t reciprocal, int32_t multiplier, int32_t shift) {
              const int32_t magnitude = dividend < 0 ? -dividend - 1 : dividend;
              const int32_t headroom = magnitude == 0 ? 31 : kiln_leading_zeros((uint32_t)magnitude) - 1;
              const int32_t quotient = kiln_high_mul((int32_t)((uint32_t)dividend << headroom), reciprocal);
              return headroom - shift > 31 ? 0 : kiln_rescale_any(quotient, multiplier, shift - headroom);
            }
            """,
            List.of(Intrinsics.HIGH_MUL, Intrinsics.LEADING_ZEROS, Intrinsics.RESCALE_ANY));

    private ElementIntrinsics() {}
}
