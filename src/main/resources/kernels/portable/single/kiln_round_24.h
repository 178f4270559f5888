// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../kiln_leading_zeros.h"
#include "../rescale/kiln_round_even.h"

/* A value below 2^62 as single precision holds it: its highest 24 bits, halves to even. */
static inline uint64_t kiln_round_24(uint64_t value) {
  const uint32_t high = (uint32_t)(value >> 32);
  const int32_t more =
      high != 0u ? 40 - kiln_leading_zeros(high) : 8 - kiln_leading_zeros((uint32_t)value | 1u);
  return more > 0 ? kiln_round_even(value, more) << more : value;
}
