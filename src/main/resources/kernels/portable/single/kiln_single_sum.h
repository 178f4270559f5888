// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_single.h"
#include "kiln_single_add.h"

/* The bits of the sum of two floats of any sign; a sum of 0 has none. */
static inline uint32_t kiln_single_sum(uint32_t a, uint32_t b) {
  const uint32_t sign = 1u << 31;
  const uint32_t x = a & ~sign;
  const uint32_t y = b & ~sign;
  if (((a ^ b) & sign) == 0u) {
    return (a & sign) | kiln_single_add(x, y);
  }
  const uint32_t large = x > y ? x : y;
  const uint32_t small = x > y ? y : x;
  const uint32_t distance = (large >> 23) - (small >> 23);
  uint32_t difference = large;
  if (small != 0u && distance <= 30u) {
    const uint64_t high = (uint64_t)((large & 0x7fffffu) | 0x800000u) << 38;
    const uint64_t low = (uint64_t)((small & 0x7fffffu) | 0x800000u) << 38 >> distance;
    difference = kiln_single(high - low, (int32_t)(large >> 23) - 188);
  }
  return difference == 0u ? 0u : ((x > y ? a : b) & sign) | difference;
}
