// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* floor(a / 2^b); 5 bits of b count. */
static inline int32_t kiln_right_shift(int32_t a, int32_t b) {
  return a >> (b & 31);
}
