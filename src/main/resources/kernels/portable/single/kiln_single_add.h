// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The bits of the sum of two floats that are not negative. */
static inline uint32_t kiln_single_add(uint32_t a, uint32_t b) {
  const uint32_t large = a > b ? a : b;
  const uint32_t small = a > b ? b : a;
  const uint32_t distance = (large >> 23) - (small >> 23);
  if (small == 0u || distance > 25u) {
    return large;
  }
  const uint64_t high = (uint64_t)((large & 0x7fffffu) | 0x800000u) << 32;
  const uint64_t sum = high + ((uint64_t)((small & 0x7fffffu) | 0x800000u) << 32 >> distance);
  const uint32_t word = (uint32_t)(sum >> 32);
  const uint32_t carry = word >> 24;
  const uint64_t below_half = ((uint64_t)0x80000000u << carry) - 1u;
  const uint32_t mantissa = (uint32_t)((sum + below_half + (word >> carry & 1u)) >> 32) >> carry;
  return ((large >> 23) - 1u + carry) * 0x800000u + mantissa;
}
