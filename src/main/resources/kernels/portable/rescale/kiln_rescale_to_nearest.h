// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value * multiplier / 2^shift, halves away from zero, for shift from 1 to 62, limited to [-2^30, 2^30]. */
static inline int32_t kiln_rescale_to_nearest(int32_t value, int32_t multiplier, int32_t shift) {
  const int64_t product = (int64_t)value * multiplier;
  const int64_t half = ((int64_t)1 << (shift - 1)) - (product < 0 ? 1 : 0);
  const int64_t rounded = (product + half) >> shift;
  return rounded > (1 << 30) ? 1 << 30 : (rounded < -(1 << 30) ? -(1 << 30) : (int32_t)rounded);
}
