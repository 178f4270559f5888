// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../kiln_leading_zeros.h"
#include "../rescale/kiln_round_even.h"

/* The bits of the float nearest to value * 2^exponent, halves to even; 0 for what is too small for a normal float. */
static inline uint32_t kiln_single(uint64_t value, int32_t exponent) {
  if (value == 0u) {
    return 0u;
  }
  const uint32_t high = (uint32_t)(value >> 32);
  const int32_t more = high != 0u ? 40 - kiln_leading_zeros(high) : 8 - kiln_leading_zeros((uint32_t)value);
  const uint32_t mantissa = (uint32_t)(more > 0 ? kiln_round_even(value, more) : value << -more);
  const int32_t biased = exponent + more + 149;
  return biased < 0 ? 0u : ((uint32_t)biased << 23) + mantissa;
}
