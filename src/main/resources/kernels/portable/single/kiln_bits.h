// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* How many bits a value needs; 0 for 0. */
static inline int32_t kiln_bits(uint64_t value) {
#if defined(__GNUC__)
  const uint32_t high = (uint32_t)(value >> 32);
  const uint32_t word = high != 0u ? high : (uint32_t)value;
  return word == 0u ? 0 : (high != 0u ? 64 : 32) - __builtin_clz(word);
#else
  int32_t bits = 0;
  while (bits < 64 && value >> bits != 0u) {
    ++bits;
  }
  return bits;
#endif
}
