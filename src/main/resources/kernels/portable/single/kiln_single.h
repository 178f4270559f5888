// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../rescale/kiln_round_even.h"
#include "kiln_bits.h"

/* The bits of the float nearest to value * 2^exponent, halves to even; 0 for what is too small for a normal float. */
static inline uint32_t kiln_single(uint64_t value, int32_t exponent) {
  if (value == 0u) {
    return 0u;
  }
  const int32_t more = kiln_bits(value) - 24;
  const uint32_t mantissa = (uint32_t)(more > 0 ? kiln_round_even(value, more) : value << -more);
  const int32_t biased = exponent + more + 149;
  return biased < 0 ? 0u : ((uint32_t)biased << 23) + mantissa;
}
