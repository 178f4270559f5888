// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value * multiplier / 2^32, rounded once, halves up. */
static inline int32_t kiln_rescale_high(int32_t value, int32_t multiplier) {
#if defined(__ARM_FEATURE_DSP)
  int32_t result;
  __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(value), "r"(multiplier));
  return result;
#elif defined(__ARM_ARCH_6M__)
  /* Without a long multiply: halves by halves; no sum leaves 32 bits. */
  const uint32_t low = (uint32_t)(value & 0xffff) * (uint32_t)(multiplier & 0xffff);
  const int32_t first = (value >> 16) * (multiplier & 0xffff) + (int32_t)(low >> 16);
  const int32_t second = (value & 0xffff) * (multiplier >> 16) + (first & 0xffff);
  return (value >> 16) * (multiplier >> 16) + (first >> 16) + (((second >> 15) + 1) >> 1);
#else
  return (int32_t)(((int64_t)value * multiplier + ((int64_t)1 << 31)) >> 32);
#endif
}
