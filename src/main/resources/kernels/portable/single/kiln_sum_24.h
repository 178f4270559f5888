// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_round_24.h"

/* A sum of two numbers of equal units as single precision computes it. */
static inline int64_t kiln_sum_24(int64_t a, int64_t b) {
  const int64_t sum = a + b;
  return sum < 0 ? -(int64_t)kiln_round_24((uint64_t)-sum) : (int64_t)kiln_round_24((uint64_t)sum);
}
