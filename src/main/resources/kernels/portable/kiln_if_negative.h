// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* A value if x is negative, otherwise 0. */
static inline int32_t kiln_if_negative(int32_t x, int32_t value) {
#if defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2
  int32_t result;
  __asm__("and %0, %1, %2, asr #31" : "=r"(result) : "r"(value), "r"(x));
  return result;
#else
  int32_t sign = x >> 31;
#if defined(__clang__)
  /* Clang would make a branch. */
  __asm__("" : "+r"(sign));
#endif
  return sign & value;
#endif
}
