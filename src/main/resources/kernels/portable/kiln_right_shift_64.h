// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* floor(a / 2^b); 6 bits of b count. */
static inline int64_t kiln_right_shift_64(int64_t a, int64_t b) {
  return a >> (b & 63);
}
