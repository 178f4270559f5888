// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* a * 2^b, wrapping around; 5 bits of b count. */
static inline int32_t kiln_left_shift(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a << (b & 31));
}
