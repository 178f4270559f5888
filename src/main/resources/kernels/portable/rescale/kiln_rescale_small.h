// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value * multiplier / 2^(31 + shift) rounded twice: in the multiply, then in the shift. For shift >= 1 and values
   below 2^30 so small that adding half of 2^shift to the product does not overflow. */
static inline int32_t kiln_rescale_small(int32_t value, int32_t multiplier, int32_t shift) {
#if defined(__ARM_FEATURE_DSP)
  int32_t high;
  __asm__("smmulr %0, %1, %2" : "=r"(high) : "r"(value * 2), "r"(multiplier));
#else
  const int32_t high = (int32_t)(((int64_t)value * multiplier + (1 << 30)) >> 31);
#endif
  return (high + (1 << (shift - 1)) + (high >> 31)) >> shift;
}
