// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../kiln_high_word.h"

/* value * multiplier / 2^32, rounded once, halves up. */
static inline int32_t kiln_rescale_high(int32_t value, int32_t multiplier) {
#if defined(__ARM_FEATURE_DSP)
  int32_t result;
  __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(value), "r"(multiplier));
  return result;
#else
  const uint32_t low = (uint32_t)value * (uint32_t)multiplier;
  return kiln_high_word(value, multiplier) + (int32_t)(low >> 31);
#endif
}
