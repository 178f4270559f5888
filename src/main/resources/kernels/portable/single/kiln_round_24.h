// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../rescale/kiln_round_even.h"
#include "kiln_bits.h"

/* A value below 2^62 as single precision holds it: its highest 24 bits, halves to even. */
static inline uint64_t kiln_round_24(uint64_t value) {
  const int32_t more = kiln_bits(value) - 24;
  if (value >> 32 == 0u && more > 0) {
    const uint32_t lost = ((uint32_t)1 << more) - 1u;
    return (value + (lost >> 1) + ((uint32_t)value >> more & 1u)) & ~(uint64_t)lost;
  }
  return more > 0 ? kiln_round_even(value, more) << more : value;
}
