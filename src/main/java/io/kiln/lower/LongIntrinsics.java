// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT64;

import io.kiln.tir.Intrinsic;
import java.util.List;

/** Helpers of generated C for functions of int64. */
final class LongIntrinsics {
    /** The difference, which wraps around. */
    static final Intrinsic SUBTRACT =
            new Intrinsic("kiln_subtract_64", List.of(INT64, INT64), INT64, "", """
                /* a - b, wrapping around. */
                static inline int64_t kiln_subtract_64(int64_t a, int64_t b) {
                  return (int64_t)((uint64_t)a - (uint64_t)b);
                }
                """, List.of());

    /** The product, which wraps around. */
    static final Intrinsic MULTIPLY =
            new Intrinsic("kiln_multiply_64", List.of(INT64, INT64), INT64, "", """
                /* a * b, wrapping around. */
                static inline int64_t kiln_multiply_64(int64_t a, int64_t b) {
                  return (int64_t)((uint64_t)a * (uint64_t)b);
                }
                """, List.of());

    /** The quotient towards zero, defined for all operands. */
    static final Intrinsic DIVIDE = new Intrinsic("kiln_divide_64", List.of(INT64, INT64), INT64, "", """
        /* a / b towards zero; 0 for b = 0, and INT64_MIN / -1 wraps around. */
        static inline int64_t kiln_divide_64(int64_t a, int64_t b) {
          return b == 0 ? 0 : (b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b);
        }
        """, List.of());

    /** {@link io.kiln.ir.op.Binary.Kind#LEFT_SHIFT}. */
    static final Intrinsic LEFT_SHIFT =
            new Intrinsic("kiln_left_shift_64", List.of(INT64, INT64), INT64, "", """
                /* a * 2^b, wrapping around; 6 bits of b count. */
                static inline int64_t kiln_left_shift_64(int64_t a, int64_t b) {
                  return (int64_t)((uint64_t)a << (b & 63));
                }
                """, List.of());

    /** {@link io.kiln.ir.op.Binary.Kind#RIGHT_SHIFT}. */
    static final Intrinsic RIGHT_SHIFT =
            new Intrinsic("kiln_right_shift_64", List.of(INT64, INT64), INT64, "", """
                /* floor(a / 2^b); 6 bits of b count. */
                static inline int64_t kiln_right_shift_64(int64_t a, int64_t b) {
                  return a >> (b & 63);
                }
                """, List.of());

    /** A float cut towards zero; it saturates, and NaN is 0. */
    static final Intrinsic OF_FLOAT =
            new Intrinsic("kiln_float_to_int_64", List.of(FLOAT32), INT64, "", """
                /* value cut towards zero and limited to 64 bits; 0 for NaN. */
                static inline int64_t kiln_float_to_int_64(float value) {
                  if (value >= -9223372036854775808.0f && value < 9223372036854775808.0f) {
                    return (int64_t)value;
                  }
                  return value > 0.0f ? INT64_MAX : (value < 0.0f ? INT64_MIN : 0);
                }
                """, List.of());

    private LongIntrinsics() {}
}
