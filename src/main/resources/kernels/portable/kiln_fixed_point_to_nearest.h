// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value * multiplier / 2^shift, halves away from zero, for shift from 1 to 62, the low 32 bits. */
static inline int32_t kiln_fixed_point_to_nearest(int32_t value, int32_t multiplier, int32_t shift) {
  const int64_t product = (int64_t)value * multiplier;
  return (int32_t)((product + ((int64_t)1 << (shift - 1)) - (product < 0 ? 1 : 0)) >> shift);
}
