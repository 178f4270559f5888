// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_sum_of_pixels
#define CONDITION 0
#define ASSEMBLY
#define EXACT_STEP 1
#define OTHER_STEP 0
#define SHIFT 3
#define RIGHT(x) ((x + (1 << 1) + (x >> 31)) >> 2)
#define SUM(x) (x - right)

/* Pixels whose exact or other side is the same vector of channels: the exact side times 2^14 and the other side rescaled, both on a common
   scale; their sum or difference rescaled to the output's, and limited. A rescaling rounds twice: in the multiply, then in the shift. */
static __attribute__((noinline)) void NAME(const int16_t* exact, const int16_t* other, int16_t* out, int32_t count,
                                           int32_t pixels, int32_t by, int32_t out_by, int32_t low, int32_t high) {
  (void)by;
  for (int32_t p = 0; p < pixels; ++p) {
    const int16_t* x = exact + EXACT_STEP * p * count;
    const int16_t* y = other + OTHER_STEP * p * count;
    int16_t* z = out + p * count;
#if CONDITION
ASSEMBLY
#else
    for (int32_t i = 0; i < count; ++i) {
      const int32_t product = (int32_t)(((int64_t)(y[i] * 32768) * by + (1 << 30)) >> 31);
      const int32_t right = RIGHT(product);
      const int32_t sum = (int32_t)(((int64_t)SUM(x[i] * 16384) * out_by + (1 << 30)) >> 31);
      const int32_t value = (sum + (1 << (SHIFT - 1)) + (sum >> 31)) >> SHIFT;
      z[i] = (int16_t)(value < low ? low : (value > high ? high : value));
    }
#endif
  }
}
