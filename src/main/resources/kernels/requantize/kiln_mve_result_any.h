// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

#if !(defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1))
/* Adds a channel's bias to its accumulator and brings it to the output's scale, which may be finer: rounded in the multiply, then in a shift
   to the right. */
static inline int8_t kiln_mve_result_any(int32_t acc, int32_t bias, int32_t multiplier, int32_t shift, int32_t zero_point,
                                         int32_t low, int32_t high) {
  const int32_t left = shift > 0 ? shift : 0;
  const int32_t right = shift > 0 ? 0 : -shift;
  const int32_t shifted = (int32_t)((uint32_t)(acc + bias) << left);
  const int64_t product = ((int64_t)shifted * multiplier + (1 << 30)) >> 31;
  const int64_t half = ((int64_t)1 << right) >> 1;
  const int64_t scaled = (product + half - (product < 0 && right > 0 ? 1 : 0)) >> right;
  const int64_t value = scaled + zero_point;
  return (int8_t)(value < low ? low : (value > high ? high : value));
}
#endif
