// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* floor((value * multiplier + offset) / 2^shift), limited to [-2^30, 2^30]; the sum fits 64 bits. */
static inline int32_t kiln_rescale_floor(int32_t value, int32_t multiplier, int64_t offset, int32_t shift) {
  const int64_t floor = ((int64_t)value * multiplier + offset) >> shift;
  return floor > (1 << 30) ? 1 << 30 : (floor < -(1 << 30) ? -(1 << 30) : (int32_t)floor);
}
