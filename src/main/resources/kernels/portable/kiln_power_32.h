// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* A power of integers, limited to 32 bits; for a negative exponent the quotient of 1 and the power, and the largest integer for 0. */
static inline int32_t kiln_power_32(int32_t base, int32_t exponent) {
  if (exponent < 0) {
    const int32_t odd = (exponent & 1) != 0 ? -1 : 1;
    return base == 0 ? INT32_MAX : (base == 1 ? 1 : (base == -1 ? odd : 0));
  }
  const int is_negative = base < 0 && (exponent & 1) != 0;
  const uint64_t most = is_negative ? (uint64_t)INT32_MAX + 1u : (uint64_t)INT32_MAX;
  /* Both stay below 2^32, so that their products fit in 64 bits. */
  uint64_t square = base < 0 ? 0u - (uint32_t)base : (uint32_t)base;
  uint64_t power = 1u;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) {
      power *= square;
      power = power > most ? most : power;
    }
    square *= square;
    square = square > UINT32_MAX ? UINT32_MAX : square;
  }
  return is_negative ? (int32_t)-(int64_t)power : (int32_t)power;
}
