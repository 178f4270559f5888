// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define PIXELS 2
#define TAPS 3
#define STRIDE 1
#define DILATION 1
#define NAME kiln_mve_depthf_2x3
#define INSTRUCTIONS "nop\n\t"

/* Adds TAPS taps of PIXELS pixels, STRIDE apart, channel by channel to their sums; taps are DILATION apart. */
static __attribute__((noinline)) void NAME(const float* x, const float* w, float* sums, int32_t channels) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
INSTRUCTIONS
      : [x] "+r"(x), [w] "+r"(w), [sums] "+r"(sums)
      : [count] "r"(channels)
      : "r0", "r1", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
#else
  for (int32_t c = 0; c < channels; ++c) {
    for (int32_t p = 0; p < PIXELS; ++p) {
      for (int32_t k = 0; k < TAPS; ++k) {
        sums[p * channels + c] += x[(p * STRIDE + k * DILATION) * channels + c] * w[k * channels + c];
      }
    }
  }
#endif
}
