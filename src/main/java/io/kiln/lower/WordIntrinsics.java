// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.base.DType.INT32;

import io.kiln.tir.Intrinsic;
import java.util.List;

/** Helpers of generated C for functions of int32 that TVM's models spell out. */
final class WordIntrinsics {
    /** {@link io.kiln.ir.op.Binary.Kind#LEFT_SHIFT}. */
    static final Intrinsic LEFT_SHIFT =
            new Intrinsic("kiln_left_shift", List.of(INT32, INT32), INT32, "", """
                /* a * 2^b, wrapping around; 5 bits of b count. */
                static inline int32_t kiln_left_shift(int32_t a, int32_t b) {
                  return (int32_t)((uint32_t)a << (b & 31));
                }
                """, List.of());

    /** {@link io.kiln.ir.op.Binary.Kind#RIGHT_SHIFT}. */
    static final Intrinsic RIGHT_SHIFT =
            new Intrinsic("kiln_right_shift", List.of(INT32, INT32), INT32, "", """
                /* floor(a / 2^b); 5 bits of b count. */
                static inline int32_t kiln_right_shift(int32_t a, int32_t b) {
                  return a >> (b & 31);
                }
                """, List.of());

    /** {@link io.kiln.ir.op.FixedPointMultiply}, halves upward. */
    static final Intrinsic FIXED_POINT_UPWARD =
            new Intrinsic("kiln_fixed_point_upward", List.of(INT32, INT32, INT32), INT32, "", """
                /* floor(value * multiplier / 2^shift + 1/2) for shift from 1 to 62, the low 32 bits. */
                static inline int32_t kiln_fixed_point_upward(int32_t value, int32_t multiplier, int32_t shift) {
                  return (int32_t)(((int64_t)value * multiplier + ((int64_t)1 << (shift - 1))) >> shift);
                }
                """, List.of());

    /** {@link io.kiln.ir.op.FixedPointMultiply}, halves away from zero. */
    static final Intrinsic FIXED_POINT_TO_NEAREST =
            new Intrinsic("kiln_fixed_point_to_nearest", List.of(INT32, INT32, INT32), INT32, "", """
                /* value * multiplier / 2^shift, halves away from zero, for shift from 1 to 62, the low 32 bits. */
                static inline int32_t kiln_fixed_point_to_nearest(int32_t value, int32_t multiplier, int32_t shift) {
                  const int64_t product = (int64_t)value * multiplier;
                  return (int32_t)((product + ((int64_t)1 << (shift - 1)) - (product < 0 ? 1 : 0)) >> shift);
                }
                """, List.of());

    private WordIntrinsics() {}
}
