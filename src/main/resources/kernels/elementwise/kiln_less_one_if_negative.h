// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* A value less one if x is negative; nothing may overflow. */
static inline int32_t kiln_less_one_if_negative(int32_t value, int32_t x) {
#if defined(__ARM_FEATURE_DSP) && !defined(__clang__)
  /* GCC would add a constant that is no immediate operand in two steps, each time. */
  int32_t result;
  __asm__("add %0, %1, %2, asr #31" : "=r"(result) : "r"(value), "r"(x));
  return result;
#else
  return (x >> 31) + value;
#endif
}
