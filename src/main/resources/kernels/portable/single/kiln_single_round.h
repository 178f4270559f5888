// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../rescale/kiln_round_even.h"

/* A float that is not negative, below 2^31, rounded to an integer, halves to even. */
static inline int32_t kiln_single_round(uint32_t value) {
  const int32_t exponent = (int32_t)(value >> 23) - 150;
  const uint32_t mantissa = (value & 0x7fffffu) | 0x800000u;
  return exponent >= 0 ? (int32_t)(mantissa << exponent)
                       : (exponent < -25 ? 0 : (int32_t)kiln_round_even(mantissa, -exponent));
}
