// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_single.h"

/*
 * The bits of a * b + c, rounded once, for a positive a, b = sign * mantissa * 2^exponent with a mantissa of up to 24 bits, and a
 * c that is more than twice as large as the product.
 */
static inline uint32_t kiln_single_fma(uint32_t a, uint32_t mantissa, int32_t exponent, int32_t sign, uint32_t c) {
  const int32_t unit = (int32_t)(c >> 23) - 188;
  const int32_t right = unit - ((int32_t)(a >> 23) - 150 + exponent);
  uint64_t product = (uint64_t)((a & 0x7fffffu) | 0x800000u) * mantissa;
  if (right > 0) {
    const uint64_t kept = right > 63 ? 0u : product >> right;
    const uint64_t lost = right > 63 ? product : product & (((uint64_t)1 << right) - 1u);
    product = kept | (lost != 0u ? 1u : 0u);
  } else {
    product <<= -right;
  }
  const uint64_t sum = (uint64_t)((c & 0x7fffffu) | 0x800000u) << 38;
  return kiln_single(sign < 0 ? sum - product : sum + product, unit);
}
