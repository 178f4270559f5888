// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* a * 2^b, wrapping around; 6 bits of b count. */
static inline int64_t kiln_left_shift_64(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a << (b & 63));
}
