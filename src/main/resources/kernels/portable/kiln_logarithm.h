// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_high_mul.h"
#include "kiln_leading_zeros.h"
#include "kiln_reciprocal.h"

/* ln(x) with 5 integer bits for x >= 1 with 12: powers of 2, and a rational function around the fourth root of 1/2. */
static inline int32_t kiln_logarithm(int32_t x) {
  const int32_t zeros = kiln_leading_zeros((uint32_t)x);
  const int32_t headroom = kiln_leading_zeros((uint32_t)kiln_high_mul(x, 1518500250)) - 1;
  const int64_t a = (int64_t)kiln_high_mul((int32_t)((uint32_t)x << (zeros - 1)), 1518500250) * 2;
  const int64_t b = (int64_t)x << headroom;
  const int64_t least = a < b ? a : b;
  const int32_t r = least > INT32_MAX ? INT32_MAX : (int32_t)least;
  const int32_t power_a = (12 - zeros) * (1 << 25) + (1 << 23);
  const int32_t power_b = (12 - headroom) * (1 << 25) - (1 << 23);
  const int32_t p = (int32_t)(((int64_t)r + 1805811301 + 1) / 2);
  const int32_t q = (r - 1805811301) * 2;
  const int32_t square = kiln_high_mul(q, q);
  const int32_t numerator = kiln_high_mul(q, r) + kiln_high_mul(kiln_high_mul(q, square), 117049297);
  const int32_t inner = 1057819769 + q + kiln_high_mul(127690142, square);
  const int32_t denominator = kiln_high_mul(p, inner) + kiln_high_mul(638450708, q);
  const int32_t scaled = (numerator + 32 + (numerator >> 31)) >> 6;
  const int32_t power = kiln_high_mul(power_a > power_b ? power_a : power_b, 1488522236);
  return (power + kiln_high_mul(scaled, kiln_reciprocal(denominator))) * 2;
}
