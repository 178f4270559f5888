// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The square root to the nearest, at most 65535, bit by bit. */
static inline uint32_t kiln_square_root_32(uint32_t value) {
  uint32_t rest = value;
  uint32_t root = 0u;
  for (uint32_t bit = 1u << 30; bit != 0u; bit >>= 2) {
    const uint32_t tried = root + bit;
    root >>= 1;
    if (rest >= tried) {
      rest -= tried;
      root += bit;
    }
  }
  return rest > root && root != 65535u ? root + 1u : root;
}
