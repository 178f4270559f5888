// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Leading zero bits of a positive value. */
static inline int32_t kiln_soft_zeros(uint32_t value) {
#if defined(__ARM_FEATURE_CLZ)
  return __builtin_clz(value);
#else
  int32_t zeros = 0;
  for (; value < 0x10000000u; value <<= 4) {
    zeros += 4;
  }
  for (; value < 0x80000000u; value <<= 1) {
    ++zeros;
  }
  return zeros;
#endif
}
