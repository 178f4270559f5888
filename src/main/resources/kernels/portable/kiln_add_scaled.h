// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* sum + floor(multiplier * value / 2^16) for a value of 16 bits */
static inline int32_t kiln_add_scaled(int32_t sum, int32_t multiplier, int32_t value) {
#if defined(__ARM_FEATURE_DSP)
  int32_t result;
  __asm__("smlawb %0, %1, %2, %3" : "=r"(result) : "r"(multiplier), "r"(value), "r"(sum));
  return result;
#elif defined(__ARM_ARCH_6M__)
  /* Without a long multiply: halves by halves; no product leaves 32 bits. */
  return sum + (multiplier >> 16) * value + (((multiplier & 0xffff) * value) >> 16);
#else
  return sum + (int32_t)(((int64_t)multiplier * (value * 65536)) >> 32);
#endif
}
