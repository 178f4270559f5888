// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_single.h"

/* The bits of the sum of two floats that are not negative. */
static inline uint32_t kiln_single_add(uint32_t a, uint32_t b) {
  const uint32_t large = a > b ? a : b;
  const uint32_t small = a > b ? b : a;
  const uint32_t distance = (large >> 23) - (small >> 23);
  if (small == 0u || distance > 25u) {
    return large;
  }
  const uint64_t high = (uint64_t)((large & 0x7fffffu) | 0x800000u) << 38;
  const uint64_t low = (uint64_t)((small & 0x7fffffu) | 0x800000u) << 38 >> distance;
  return kiln_single(high + low, (int32_t)(large >> 23) - 188);
}
