// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* sum + low(a) * low(b) + high(a) * high(b), of halves of 16 bits; no sum may overflow. */
static inline int32_t kiln_smlad(int32_t a, int32_t b, int32_t sum) {
#if defined(__ARM_FEATURE_DSP)
  int32_t result;
  __asm__ volatile("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#else
  return sum + (int16_t)(a & 0xffff) * (int16_t)(b & 0xffff) + (a >> 16) * (b >> 16);
#endif
}
