// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Limits a value to [-128, 127]. */
static inline int32_t kiln_saturate_8(int32_t value) {
#if defined(__ARM_FEATURE_SAT)
  int32_t result;
  __asm__("ssat %0, #8, %1" : "=r"(result) : "r"(value));
  return result;
#else
  return (uint32_t)value + 128u <= 255u ? value : (value >> 31) ^ 127;
#endif
}
