// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* a / b towards zero; 0 for b = 0, and INT32_MIN / -1 wraps around. */
static inline int32_t kiln_divide(int32_t a, int32_t b) {
  return b == 0 ? 0 : (b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b);
}
