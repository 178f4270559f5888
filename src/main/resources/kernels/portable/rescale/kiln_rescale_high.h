// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value * multiplier / 2^32, rounded once, halves up. */
static inline int32_t kiln_rescale_high(int32_t value, int32_t multiplier) {
#if defined(__ARM_FEATURE_DSP)
  int32_t result;
  __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(value), "r"(multiplier));
  return result;
#else
  return (int32_t)(((int64_t)value * multiplier + ((int64_t)1 << 31)) >> 32);
#endif
}
