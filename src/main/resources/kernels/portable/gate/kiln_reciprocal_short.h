// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_product_short.h"

/* 2 / (1 + x) in units of 2^-13, for x from 0 to 32767 in units of 2^-15: Newton-Raphson from 48/17 - 32/17 * d. */
static inline int32_t kiln_reciprocal_short(int32_t x) {
  const int32_t denominator = (x + 32768) >> 1;
  int32_t estimate = 23130 + kiln_product_short(denominator, -15420);
  estimate += kiln_product_short(estimate, 8192 - kiln_product_short(denominator, estimate)) * 4;
  estimate += kiln_product_short(estimate, 8192 - kiln_product_short(denominator, estimate)) * 4;
  estimate += kiln_product_short(estimate, 8192 - kiln_product_short(denominator, estimate)) * 4;
  return estimate;
}
