// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* a * b + c * d of fractions of 31 bits, rounded once. */
static inline int32_t kiln_products_32(int32_t a, int32_t b, int32_t c, int32_t d) {
  return (int32_t)(((int64_t)a * b + (int64_t)c * d + (1 << 30)) >> 31);
}
