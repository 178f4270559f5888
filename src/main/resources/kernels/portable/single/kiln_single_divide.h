// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_single.h"

/* The bits of the quotient of two floats, the first not negative, the second positive. */
static inline uint32_t kiln_single_divide(uint32_t a, uint32_t b) {
  if (a == 0u) {
    return 0u;
  }
  const uint32_t divisor = (b & 0x7fffffu) | 0x800000u;
  uint32_t rest = (a & 0x7fffffu) | 0x800000u;
  uint32_t quotient = 0u;
  for (int32_t bit = 0; bit < 27; ++bit) {
    const uint32_t step = rest >= divisor ? 1u : 0u;
    quotient = quotient << 1 | step;
    rest = (rest - (divisor & (0u - step))) << 1;
  }
  quotient = quotient << 1 | (rest != 0u ? 1u : 0u);
  return kiln_single(quotient, (int32_t)(a >> 23) - (int32_t)(b >> 23) - 27);
}
