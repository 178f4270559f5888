// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_mve_result.h"
#define NAME kiln_mve_depthwise
#define VECTORS (void)groups;
#define GROUP_WORDS 28

/* Windows of four words of four bytes, one word for each channel: a word lies at each of four offsets from a pixel's place,
   places are a step apart, and channels 4 bytes. Packed, for each four channels: 16 weights of each, then biases,
   multipliers and shifts. */
static __attribute__((noinline)) void NAME(const int8_t* x, const int32_t* offsets, const int32_t* packed, int8_t* out,
    int32_t pixels, int32_t step, int32_t groups, int32_t channels, int32_t zero_point, int32_t low, int32_t high) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
VECTORS
#else
  for (int32_t c = 0; c < 4 * groups; ++c) {
    const int32_t* const group = packed + c / 4 * GROUP_WORDS;
    for (int32_t p = 0; p < pixels; ++p) {
      int32_t acc = 0;
      for (int32_t k = 0; k < 16; ++k) {
        const uint32_t word = (uint32_t)group[c % 4 * 4 + k / 4];
        acc += x[p * step + 4 * c + offsets[k / 4] + k % 4] * (int8_t)(word >> (8 * (k % 4)));
      }
      const int32_t* const constants = group + 16 + c % 4;
      out[p * channels + c] =
          kiln_mve_result(acc, constants[0], constants[4], constants[8], zero_point, low, high);
    }
  }
#endif
}
