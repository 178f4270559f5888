// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* value, or low where it is less; low is 0 or less. NaN passes through. */
static inline float kiln_at_least(float value, float low) {
#if defined(__clang__) && defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  /* Clang's vectors take NaN for less than a number, so the bits are compared: from the next float below low to minus infinity. */
  const union {
    float real;
    uint32_t bits;
  } x = {value}, least = {low};
  const uint32_t next = (least.bits | 0x80000000u) + 1u;
  return x.bits - next <= 0xff800000u - next ? low : value;
#else
  return value < low ? low : value;
#endif
}
