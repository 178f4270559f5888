// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_single.h"

/* The bits of the product of two floats that are not negative. */
static inline uint32_t kiln_single_multiply(uint32_t a, uint32_t b) {
  if (a == 0u || b == 0u) {
    return 0u;
  }
  const uint64_t product = (uint64_t)((a & 0x7fffffu) | 0x800000u) * ((b & 0x7fffffu) | 0x800000u);
  return kiln_single(product << 15, (int32_t)(a >> 23) + (int32_t)(b >> 23) - 315);
}
