// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.UINT32;

import io.kiln.tir.Intrinsic;
import java.util.List;

/** The portable helpers that generated C calls; each is printed once into a file that uses it. */
public final class Intrinsics {
    /** Limits a value. */
    public static final Intrinsic CLAMP =
            new Intrinsic("kiln_clamp", List.of(INT32, INT32, INT32), INT32, "", """
                /* Limits a value to [low, high]. */
                static inline int32_t kiln_clamp(int32_t value, int32_t low, int32_t high) {
                  return value < low ? low : (value > high ? high : value);
                }
                """, List.of());

    /** Limits a value to int8. */
    public static final Intrinsic SATURATE_8 =
            new Intrinsic("kiln_saturate_8", List.of(INT32), INT32, "", """
                /* Limits a value to [-128, 127]. */
                static inline int32_t kiln_saturate_8(int32_t value) {
                #if defined(__ARM_FEATURE_SAT)
                  int32_t result;
                  __asm__("ssat %0, #8, %1" : "=r"(result) : "r"(value));
                  return result;
                #else
                  return (uint32_t)value + 128u <= 255u ? value : (value >> 31) ^ 127;
                #endif
                }
                """, List.of());

    /** The upper half of a product. */
    public static final Intrinsic HIGH_WORD =
            new Intrinsic("kiln_high_word", List.of(INT32, INT32), INT32, "", """
                /* floor(a * b / 2^32) */
                static inline int32_t kiln_high_word(int32_t a, int32_t b) {
                #if defined(__ARM_ARCH_6M__)
                  /* Without a long multiply: halves by halves; no sum leaves 32 bits. */
                  const int32_t a_low = a & 0xffff;
                  const int32_t b_low = b & 0xffff;
                  const uint32_t low = (uint32_t)a_low * (uint32_t)b_low;
                  const int32_t first = (a >> 16) * b_low + (int32_t)(low >> 16);
                  const int32_t second = a_low * (b >> 16) + (first & 0xffff);
                  return (a >> 16) * (b >> 16) + (first >> 16) + (second >> 16);
                #else
                  return (int32_t)(((int64_t)a * b) >> 32);
                #endif
                }
                """, List.of());

    /** {@link io.kiln.base.FixedPoint#saturatingRoundingDoublingHighMul} where both are not INT32_MIN. */
    public static final Intrinsic HIGH_MUL =
            new Intrinsic("kiln_high_mul", List.of(INT32, INT32), INT32, "", """
                /* round(a * b / 2^31) */
                static inline int32_t kiln_high_mul(int32_t a, int32_t b) {
                  return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31);
                }
                """, List.of());

    /** Rescaling with a right shift of at least 1, where no step can overflow. */
    public static final Intrinsic RESCALE =
            new Intrinsic("kiln_rescale", List.of(INT32, INT32, INT32), INT32, "", """
                /* value * multiplier / 2^(31 + shift) rounded twice: in the multiply, then in the shift. For shift >= 1 and values
                   so small that adding half of 2^shift to the product does not overflow. */
                static inline int32_t kiln_rescale(int32_t value, int32_t multiplier, int32_t shift) {
                  const int32_t high = (int32_t)(((int64_t)value * multiplier + (1 << 30)) >> 31);
                  return (high + (1 << (shift - 1)) + (high >> 31)) >> shift;
                }
                """, List.of());

    /** Rescaling with any shift, positive to the left, in the wrapping arithmetic of the reference kernels. */
    public static final Intrinsic RESCALE_ANY =
            new Intrinsic("kiln_rescale_any", List.of(INT32, INT32, INT32), INT32, "", """
                /* value * multiplier * 2^(shift - 31) rounded twice: in the multiply, then in a shift to the right. */
                static inline int32_t kiln_rescale_any(int32_t value, int32_t multiplier, int32_t shift) {
                  const int32_t left = shift > 0 ? shift : 0;
                  const int32_t right = shift > 0 ? 0 : -shift;
                  const int32_t shifted = (int32_t)((uint32_t)value << left);
                  const int64_t high = ((int64_t)shifted * multiplier + (1 << 30)) >> 31;
                  const int64_t half = ((int64_t)1 << right) >> 1;
                  return (int32_t)((high + half - (high < 0 && right > 0 ? 1 : 0)) >> right);
                }
                """, List.of());

    /** A sum that saturates; zero points are added so where a rescaled value may fill all 32 bits. */
    public static final Intrinsic ADD_SATURATED =
            new Intrinsic("kiln_add_saturated", List.of(INT32, INT32), INT32, "", """
                /* a + b, limited to 32 bits. */
                static inline int32_t kiln_add_saturated(int32_t a, int32_t b) {
                  const int64_t sum = (int64_t)a + b;
                  return sum > INT32_MAX ? INT32_MAX : (sum < INT32_MIN ? INT32_MIN : (int32_t)sum);
                }
                """, List.of());

    /** Limits a value to int16. */
    public static final Intrinsic SATURATE_16 =
            new Intrinsic("kiln_saturate_16", List.of(INT32), INT32, "", """
                /* Limits a value to [-32768, 32767]. */
                static inline int32_t kiln_saturate_16(int32_t value) {
                #if defined(__ARM_FEATURE_SAT)
                  int32_t result;
                  __asm__("ssat %0, #16, %1" : "=r"(result) : "r"(value));
                  return result;
                #else
                  return (uint32_t)value + 32768u <= 65535u ? value : (value >> 31) ^ 32767;
                #endif
                }
                """, List.of());

    /** {@code sum + a * b}, rounded once where the core does so in one instruction, else twice. */
    public static final Intrinsic MULTIPLY_ADD =
            new Intrinsic("kiln_multiply_add", List.of(FLOAT32, FLOAT32, FLOAT32), FLOAT32, "", """
                /* sum + a * b */
                static inline float kiln_multiply_add(float sum, float a, float b) {
                #if defined(__ARM_FEATURE_FMA)
                  return __builtin_fmaf(a, b, sum);
                #else
                  return sum + a * b;
                #endif
                }
                """, List.of());

    /** Rescaling of 64 bits by the upper half of a multiplier, rounded once. */
    public static final Intrinsic RESCALE_WIDE =
            new Intrinsic("kiln_rescale_wide", List.of(INT64, INT32, INT32), INT32, "", """
                /* value * multiplier / 2^shift, rounded once, for a multiplier of 15 bits. */
                static inline int32_t kiln_rescale_wide(int64_t value, int32_t multiplier, int32_t shift) {
                  return (int32_t)((value * multiplier + ((int64_t)1 << (shift - 1))) >> shift);
                }
                """, List.of());

    /** {@link io.kiln.base.FixedPoint#multiplyRoundingUpward} limited to 31 bits, so that a zero point can be added. */
    public static final Intrinsic RESCALE_UPWARD =
            new Intrinsic("kiln_rescale_upward", List.of(INT32, INT32, INT32), INT32, "", """
                /* floor(value * multiplier / 2^shift + 1/2) for shift from 1 to 62, limited to [-2^30, 2^30]. */
                static inline int32_t kiln_rescale_upward(int32_t value, int32_t multiplier, int32_t shift) {
                  const int64_t rounded = ((int64_t)value * multiplier + ((int64_t)1 << (shift - 1))) >> shift;
                  return rounded > (1 << 30) ? 1 << 30 : (rounded < -(1 << 30) ? -(1 << 30) : (int32_t)rounded);
                }
                """, List.of());

    /** {@link io.kiln.base.FixedPoint#multiplyRoundingAway}, limited likewise. */
    public static final Intrinsic RESCALE_TO_NEAREST =
            new Intrinsic("kiln_rescale_to_nearest", List.of(INT32, INT32, INT32), INT32, "", """
                /* value * multiplier / 2^shift, halves away from zero, for shift from 1 to 62, limited to [-2^30, 2^30]. */
                static inline int32_t kiln_rescale_to_nearest(int32_t value, int32_t multiplier, int32_t shift) {
                  const int64_t product = (int64_t)value * multiplier;
                  const int64_t half = ((int64_t)1 << (shift - 1)) - (product < 0 ? 1 : 0);
                  const int64_t rounded = (product + half) >> shift;
                  return rounded > (1 << 30) ? 1 << 30 : (rounded < -(1 << 30) ? -(1 << 30) : (int32_t)rounded);
                }
                """, List.of());

    /** Leading zero bits of a positive value. */
    public static final Intrinsic LEADING_ZEROS =
            new Intrinsic("kiln_leading_zeros", List.of(UINT32), INT32, "", """
                /* Leading zero bits of a positive value. */
                static inline int32_t kiln_leading_zeros(uint32_t value) {
                  int32_t zeros = 0;
                  while (value << zeros < 0x80000000u) {
                    ++zeros;
                  }
                  return zeros;
                }
                """, List.of());

    /** {@code 1 / (1 + x)} for x in [0, 1) by three Newton steps on Q31, as gemmlowp defines it. */
    public static final Intrinsic RECIPROCAL =
            new Intrinsic("kiln_reciprocal", List.of(INT32), INT32, "", """
                /* 1 / (1 + x) for x in [0, 1), both Q31: Newton-Raphson from 48/17 - 32/17 * d in Q29. */
                static inline int32_t kiln_reciprocal(int32_t x) {
                  const int32_t denominator = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
                  int32_t estimate = 1515870810 + kiln_high_mul(denominator, -1010580540);
                  for (int32_t step = 0; step < 3; ++step) {
                    const int32_t error = (1 << 29) - kiln_high_mul(denominator, estimate);
                    const int64_t correction = (int64_t)kiln_high_mul(estimate, error) * 4;
                    estimate += correction > INT32_MAX ? INT32_MAX : (correction < INT32_MIN ? INT32_MIN : (int32_t)correction);
                  }
                  const int64_t result = (int64_t)estimate * 2;
                  return result > INT32_MAX ? INT32_MAX : (int32_t)result;
                }
                """, List.of(HIGH_MUL));

    private Intrinsics() {}
}
