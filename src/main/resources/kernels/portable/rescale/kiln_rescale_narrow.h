// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value * multiplier / 2^(16 + shift), rounded once, for a multiplier of 15 bits and shift from 1 to 30: bits below 2^16 are dropped
   first, which does not change what is rounded down in the end. */
static inline int32_t kiln_rescale_narrow(int32_t value, int32_t multiplier, int32_t shift) {
#if defined(__ARM_FEATURE_DSP)
  int32_t high;
  __asm__("smulwb %0, %1, %2" : "=r"(high) : "r"(value), "r"(multiplier));
#else
  const int32_t low = (int32_t)((((uint32_t)value & 0xffffu) * (uint32_t)multiplier) >> 16);
  const int32_t high = (value >> 16) * multiplier + low;
#endif
  return (high + (1 << (shift - 1))) >> shift;
}
