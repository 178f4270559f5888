// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

#if !(defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1))
/* Brings a channel's accumulator to the output's scale. Before the shift, a channel's correction is taken from odd results, or
   half a step from the value that it lists. */
static inline int8_t kiln_mve_corrected(int32_t acc, int32_t correction, int32_t multiplier, int32_t offset,
                                        int32_t zero_point, int32_t low, int32_t high, int32_t scale, int32_t odd,
                                        int32_t half, int32_t shift) {
  int32_t value = (int32_t)(((int64_t)(acc * scale) * multiplier) >> 32) + offset;
  value -= (value & odd) != 0 ? correction : (value == correction ? half : 0);
  value = (value >> shift) + zero_point;
  return (int8_t)(value < low ? low : (value > high ? high : value));
}
#endif
