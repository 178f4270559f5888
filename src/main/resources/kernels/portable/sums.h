// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define PIXELS 2
#define CHANNELS 4
#define CONDITION 0
#define NAME kiln_sums_of_2x4
#define UNUSED_PARAMETERS const int8_t* x, const int8_t* w, int32_t* sums, int32_t stride, int32_t taps
#define TYPE int8_t
#define WEIGHTS const int8_t* w
#define ASSEMBLY "ret"
#define WEIGHT w[CHANNELS * i + c]

/* sums[channel][pixel] of the inputs of PIXELS pixels, a stride apart, times the weights of CHANNELS channels. */
#if CONDITION
__attribute__((naked, noinline)) static void NAME(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(const TYPE* x, WEIGHTS, int32_t* sums, int32_t stride, int32_t taps) {
  for (int32_t c = 0; c < CHANNELS; ++c) {
    for (int32_t p = 0; p < PIXELS; ++p) {
      int32_t sum = 0;
      for (int32_t i = 0; i < taps; ++i) {
        sum += x[p * stride + i] * WEIGHT;
      }
      sums[c * PIXELS + p] = sum;
    }
  }
}
#endif
