// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_sums_1
#define HALFWORDS 256 * first + second
#define FIRST (begin[0] - begin[1]) / 256
#define UPPER (both - low) / 256
#define ASSEMBLY

/* Twice the dot products of count values with blocks of 8 rows, and twice their initial values. w: a block's initial values; per four
   values and pair of rows halfwords for values 0, 2, 1 and 3: HALFWORDS. */
__attribute__((noinline))
static void NAME(const int8_t* x, const int8_t* w, int32_t* sums, int32_t count, int32_t blocks) {
#if defined(__ARM_FEATURE_DSP)
ASSEMBLY
#else
  for (int32_t block = 0; block < blocks; ++block, w += 32 + (count + 3) / 4 * 32) {
    for (int32_t pair = 0; pair < 4; ++pair) {
      int32_t begin[2];
      __builtin_memcpy(begin, w + 8 * pair, 8);
      int32_t first = FIRST;
      int32_t second = begin[1];
      for (int32_t i = 0; i < count; ++i) {
        int16_t both;
        __builtin_memcpy(&both, w + 32 + i / 4 * 32 + pair * 8 + i % 4 / 2 * 2 + i % 2 * 4, 2);
        const int8_t low = (int8_t)both;
        first += x[i] * (UPPER);
        second += x[i] * low;
      }
      *sums++ = 2 * first;
      *sums++ = 2 * second;
    }
  }
#endif
}
