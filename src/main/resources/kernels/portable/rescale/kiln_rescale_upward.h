// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* floor(value * multiplier / 2^shift + 1/2) for shift from 1 to 62, limited to [-2^30, 2^30]. */
static inline int32_t kiln_rescale_upward(int32_t value, int32_t multiplier, int32_t shift) {
  const int64_t rounded = ((int64_t)value * multiplier + ((int64_t)1 << (shift - 1))) >> shift;
  return rounded > (1 << 30) ? 1 << 30 : (rounded < -(1 << 30) ? -(1 << 30) : (int32_t)rounded);
}
