// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../rescale/kiln_round_even.h"
#include "kiln_bits.h"

/* A value below 2^62 as single precision holds it: its highest 24 bits, halves to even. */
static inline uint64_t kiln_round_24(uint64_t value) {
  const int32_t more = kiln_bits(value) - 24;
  return more > 0 ? kiln_round_even(value, more) << more : value;
}
