// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The bits of the product of two floats that are not negative. */
static inline uint32_t kiln_single_multiply(uint32_t a, uint32_t b) {
  if (a == 0u || b == 0u) {
    return 0u;
  }
  const uint64_t product = (uint64_t)((a & 0x7fffffu) | 0x800000u) * ((b & 0x7fffffu) | 0x800000u);
  const uint32_t is_long = (uint32_t)(product >> 47);
  const uint64_t wide = product << (9u - is_long);
  const uint32_t mantissa = (uint32_t)((wide + 0x7fffffffu + ((uint32_t)(wide >> 32) & 1u)) >> 32);
  const int32_t exponent = (int32_t)(a >> 23) + (int32_t)(b >> 23) - 128 + (int32_t)is_long;
  return exponent < 0 ? 0u : ((uint32_t)exponent << 23) + mantissa;
}
