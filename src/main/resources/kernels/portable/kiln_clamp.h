// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Limits a value to [low, high]. */
static inline int32_t kiln_clamp(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : (value > high ? high : value);
}
