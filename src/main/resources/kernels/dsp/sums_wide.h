// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_sums_wide_1
#define ASSEMBLY

/* Twice the dot products of count values with blocks of 8 rows of int16, and twice their initial values. w: a block's initial values;
   per four values and row halfwords for values 0, 2, 1 and 3. */
__attribute__((noinline))
static void NAME(const int8_t* x, const int8_t* w, int32_t* sums, int32_t count, int32_t blocks) {
#if defined(__ARM_FEATURE_DSP)
ASSEMBLY
#else
  for (int32_t block = 0; block < blocks; ++block, w += 32 + (count + 3) / 4 * 64) {
    for (int32_t row = 0; row < 8; ++row) {
      int32_t sum;
      __builtin_memcpy(&sum, w + 4 * row, 4);
      for (int32_t i = 0; i < count; ++i) {
        int16_t weight;
        __builtin_memcpy(&weight, w + 32 + i / 4 * 64 + row * 8 + i % 4 / 2 * 2 + i % 2 * 4, 2);
        sum += x[i] * weight;
      }
      *sums++ = 2 * sum;
    }
  }
#endif
}
