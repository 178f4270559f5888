// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* round(a * b / 2^31) */
static inline int32_t kiln_high_mul(int32_t a, int32_t b) {
  return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31);
}
