// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT64;

import io.kiln.tir.Intrinsic;
import java.util.List;

/** Helpers of generated C for the channels of filter banks. */
final class FilterBankIntrinsics {
    private static final Intrinsic SQUARE_ROOT_32 =
            new Intrinsic("kiln_square_root_32", List.of(UINT32), UINT32, "", """
                /* The square root to the nearest, at most 65535, bit by bit. */
                static inline uint32_t kiln_square_root_32(uint32_t value) {
                  uint32_t rest = value;
                  uint32_t root = 0u;
                  for (uint32_t bit = 1u << 30; bit != 0u; bit >>= 2) {
                    const uint32_t tried = root + bit;
                    root >>= 1;
                    if (rest >= tried) {
                      rest -= tried;
                      root += bit;
                    }
                  }
                  return rest > root && root != 65535u ? root + 1u : root;
                }
                """, List.of());

    /** {@link io.kiln.ir.arith.SquareRoot}. */
    static final Intrinsic SQUARE_ROOT =
            new Intrinsic("kiln_square_root", List.of(UINT64), UINT32, "", """
                /* The square root to the nearest, at most UINT32_MAX, or 65535 below 2^32. */
                static inline uint32_t kiln_square_root(uint64_t value) {
                  if (value >> 32 == 0u) {
                    return kiln_square_root_32((uint32_t)value);
                  }
                  uint64_t rest = value;
                  uint64_t root = 0u;
                  uint64_t bit = UINT64_C(1) << 62;
                  while (bit > value) {
                    bit >>= 2;
                  }
                  for (; bit != 0u; bit >>= 2) {
                    const uint64_t tried = root + bit;
                    root >>= 1;
                    if (rest >= tried) {
                      rest -= tried;
                      root += bit;
                    }
                  }
                  return (uint32_t)(rest > root && root != UINT32_MAX ? root + 1u : root);
                }
                """, List.of(SQUARE_ROOT_32));

    /** A shift to the right that is 0 where C does not define it. */
    static final Intrinsic SHIFT_RIGHT =
            new Intrinsic("kiln_shift_right", List.of(UINT32, INT32), UINT32, "", """
                /* value >> bits; 0 for bits other than 0 to 31. */
                static inline uint32_t kiln_shift_right(uint32_t value, int32_t bits) {
                  return (uint32_t)bits < 32u ? value >> bits : 0u;
                }
                """, List.of());

    private FilterBankIntrinsics() {}
}
