// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* floor(value * multiplier / 2^shift + 1/2) for shift from 1 to 62, the low 32 bits. */
static inline int32_t kiln_fixed_point_upward(int32_t value, int32_t multiplier, int32_t shift) {
  return (int32_t)(((int64_t)value * multiplier + ((int64_t)1 << (shift - 1))) >> shift);
}
