// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* a + b, limited to 32 bits. */
static inline int32_t kiln_add_saturated(int32_t a, int32_t b) {
  const int64_t sum = (int64_t)a + b;
  return sum > INT32_MAX ? INT32_MAX : (sum < INT32_MIN ? INT32_MIN : (int32_t)sum);
}
