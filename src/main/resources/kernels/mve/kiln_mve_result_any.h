// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../portable/rescale/kiln_rescale_any.h"

#if !(defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1))
/* Adds a channel's bias to its accumulator and brings it to the output's scale, which may be finer. */
static inline int8_t kiln_mve_result_any(int32_t acc, int32_t bias, int32_t multiplier, int32_t shift, int32_t zero_point,
                                         int32_t low, int32_t high) {
  const int64_t value = (int64_t)kiln_rescale_any(acc + bias, multiplier, shift) + zero_point;
  return (int8_t)(value < low ? low : (value > high ? high : value));
}
#endif
