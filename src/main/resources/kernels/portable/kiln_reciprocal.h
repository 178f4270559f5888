// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_high_mul.h"

/* 1 / (1 + x) for x in [0, 1), both Q31: Newton-Raphson from 48/17 - 32/17 * d in Q29. */
static inline int32_t kiln_reciprocal(int32_t x) {
  const int32_t denominator = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
  int32_t estimate = 1515870810 + kiln_high_mul(denominator, -1010580540);
  for (int32_t step = 0; step < 3; ++step) {
    const int32_t error = (1 << 29) - kiln_high_mul(denominator, estimate);
    const int64_t correction = (int64_t)kiln_high_mul(estimate, error) * 4;
    estimate += correction > INT32_MAX ? INT32_MAX : (correction < INT32_MIN ? INT32_MIN : (int32_t)correction);
  }
  const int64_t result = (int64_t)estimate * 2;
  return result > INT32_MAX ? INT32_MAX : (int32_t)result;
}
