// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* sum + a * b */
static inline float kiln_multiply_add(float sum, float a, float b) {
#if defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, sum);
#else
  return sum + a * b;
#endif
}
