// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

#if !(defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1))
/* Adds a channel's bias to its accumulator and brings it to the output's scale. */
static inline int8_t kiln_mve_result(int32_t acc, int32_t bias, int32_t multiplier, int32_t shift, int32_t zero_point,
                                     int32_t low, int32_t high) {
  const int32_t product = (int32_t)(((int64_t)(acc + bias) * multiplier + (1 << 30)) >> 31);
  const int32_t value = ((product + (1 << (-shift - 1)) - (product < 0 ? 1 : 0)) >> -shift) + zero_point;
  return (int8_t)(value < low ? low : (value > high ? high : value));
}
#endif
