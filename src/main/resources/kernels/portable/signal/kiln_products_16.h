// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* a * b + c * d of fractions of 15 bits, rounded once. */
static inline int32_t kiln_products_16(int32_t a, int32_t b, int32_t c, int32_t d) {
  return (int16_t)((a * b + c * d + (1 << 14)) >> 15);
}
