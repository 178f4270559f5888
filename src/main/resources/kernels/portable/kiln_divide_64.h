// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* a / b towards zero; 0 for b = 0, and INT64_MIN / -1 wraps around. */
static inline int64_t kiln_divide_64(int64_t a, int64_t b) {
  return b == 0 ? 0 : (b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b);
}
