// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.base.DType.INT32;

import io.kiln.tir.Intrinsic;
import java.util.List;

/** Helpers of generated C for normalizations in fixed point. */
public final class NormalizeIntrinsics {
    /** {@link io.kiln.ir.arith.TflNormalization#logarithm}. */
    public static final Intrinsic LOGARITHM = new Intrinsic(
            "kiln_logarithm",
            List.of(INT32),
            INT32,
            "",
            """
            /* ln(x) with 5 integer bits for x >= 1 with 12: powers of 2, and a rational function around the fourth root of 1/2. */
            static inline int32_t kiln_logarithm(int32_t x) {
              const int32_t zeros = kiln_leading_zeros((uint32_t)x);
              const int32_t headroom = kiln_leading_zeros((uint32_t)kiln_high_mul(x, 1518500250)) - 1;
              const int64_t a = (int64_t)kiln_high_mul((int32_t)((uint32_t)x << (zeros - 1)), 1518500250) * 2;
              const int64_t b = (int64_t)x << headroom;
              const int64_t least = a < b ? a : b;
              const int32_t r = least > INT32_MAX ? INT32_MAX : (int32_t)least;
              const int32_t power_a = (12 - zeros) * (1 << 25) + (1 << 23);
              const int32_t power_b = (12 - headroom) * (1 << 25) - (1 << 23);
              const int32_t p = (int32_t)(((int64_t)r + 1805811301 + 1) / 2);
              const int32_t q = (r - 1805811301) * 2;
              const int32_t square = kiln_high_mul(q, q);
              const int32_t numerator = kiln_high_mul(q, r) + kiln_high_mul(kiln_high_mul(q, square), 117049297);
              const int32_t inner = 1057819769 + q + kiln_high_mul(127690142, square);
              const int32_t denominator = kiln_high_mul(p, inner) + kiln_high_mul(638450708, q);
              const int32_t scaled = (numerator + 32 + (numerator >> 31)) >> 6;
              const int32_t power = kiln_high_mul(power_a > power_b ? power_a : power_b, 1488522236);
              return (power + kiln_high_mul(scaled, kiln_reciprocal(denominator))) * 2;
            }
            """,
            List.of(Intrinsics.HIGH_MUL, Intrinsics.LEADING_ZEROS, Intrinsics.RECIPROCAL));

    /** {@link io.kiln.ir.arith.InverseSquareRoot#exponent}. */
    public static final Intrinsic ROOT_EXPONENT =
            new Intrinsic("kiln_root_exponent", List.of(INT32), INT32, "", """
                /* 11, and half the bits by which x is shifted right to lie in [2^27, 2^29); 0 for x <= 1. */
                static inline int32_t kiln_root_exponent(int32_t x) {
                  return x <= 1 ? 0 : 12 - (kiln_leading_zeros((uint32_t)x) - 1) / 2;
                }
                """, List.of(Intrinsics.LEADING_ZEROS));

    /** {@link io.kiln.ir.arith.InverseSquareRoot#root}, given the exponent too. */
    public static final Intrinsic INVERSE_ROOT =
            new Intrinsic("kiln_inverse_root", List.of(INT32, INT32), INT32, "", """
                /* 2^(31 + exponent) / sqrt(x) by five Newton steps with 3 integer bits; INT32_MAX for x <= 1. */
                static inline int32_t kiln_inverse_root(int32_t x, int32_t exponent) {
                  if (x <= 1) {
                    return INT32_MAX;
                  }
                  const int32_t shifted = exponent > 11 ? x >> (2 * (exponent - 11)) : x << (2 * (11 - exponent));
                  const int32_t half = ((shifted >> 1) + 1) >> 1;
                  int32_t root = 1 << 28;
                  for (int32_t step = 0; step < 5; ++step) {
                    const int64_t cube = (int64_t)kiln_high_mul(kiln_high_mul(root, root), root) * 64;
                    const int32_t limited = cube > INT32_MAX ? INT32_MAX : (int32_t)cube;
                    const int64_t next = (int64_t)(kiln_high_mul(402653184, root) - kiln_high_mul(half, limited)) * 8;
                    root = next > INT32_MAX ? INT32_MAX : (next < INT32_MIN ? INT32_MIN : (int32_t)next);
                  }
                  return kiln_high_mul(root, 1518500250);
                }
                """, List.of(Intrinsics.HIGH_MUL));

    private NormalizeIntrinsics() {}
}
