// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_high_mul.h"

/* 2^(31 + exponent) / sqrt(x) by five Newton steps with 3 integer bits; INT32_MAX for x <= 1. */
static inline int32_t kiln_inverse_root(int32_t x, int32_t exponent) {
  if (x <= 1) {
    return INT32_MAX;
  }
  const int32_t shifted = exponent > 11 ? x >> (2 * (exponent - 11)) : x << (2 * (11 - exponent));
  const int32_t half = ((shifted >> 1) + 1) >> 1;
  int32_t root = 1 << 28;
  for (int32_t step = 0; step < 5; ++step) {
    const int64_t cube = (int64_t)kiln_high_mul(kiln_high_mul(root, root), root) * 64;
    const int32_t limited = cube > INT32_MAX ? INT32_MAX : (int32_t)cube;
    const int64_t next = (int64_t)(kiln_high_mul(402653184, root) - kiln_high_mul(half, limited)) * 8;
    root = next > INT32_MAX ? INT32_MAX : (next < INT32_MIN ? INT32_MIN : (int32_t)next);
  }
  return kiln_high_mul(root, 1518500250);
}
