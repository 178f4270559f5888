// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_square_root_32.h"

/* The square root to the nearest, at most UINT32_MAX, or 65535 below 2^32. */
static inline uint32_t kiln_square_root(uint64_t value) {
  if (value >> 32 == 0u) {
    return kiln_square_root_32((uint32_t)value);
  }
  uint64_t rest = value;
  uint64_t root = 0u;
  uint64_t bit = UINT64_C(1) << 62;
  while (bit > value) {
    bit >>= 2;
  }
  for (; bit != 0u; bit >>= 2) {
    const uint64_t tried = root + bit;
    root >>= 1;
    if (rest >= tried) {
      rest -= tried;
      root += bit;
    }
  }
  return (uint32_t)(rest > root && root != UINT32_MAX ? root + 1u : root);
}
