// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value / 2^shift for shift from 0 to 63, halves to even. */
static inline uint64_t kiln_round_even(uint64_t value, int32_t shift) {
  const uint64_t below_half = shift == 0 ? 0u : ((uint64_t)1 << (shift - 1)) - 1u;
  const uint64_t is_odd = shift == 0 ? 0u : (value >> shift) & 1u;
  return (value + below_half + is_odd) >> shift;
}
