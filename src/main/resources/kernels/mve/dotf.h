// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define CHANNELS 8
#define NAME kiln_mve_dotf_2x8
#define PARAMETERS const float* x0, const float* x1, const float* w, float* sums, int32_t taps
#define OTHER_INPUTS x1, x1
#define INSTRUCTIONS "nop\n\t"
#define SUMS sums[c] += x0[k] * w[k * 8 + c]; sums[8 + c] += x1[k] * w[k * 8 + c];

/* Adds dot products of floats with the weights of CHANNELS channels, all channels of a tap together, to the sums. */
static __attribute__((noinline)) void NAME(PARAMETERS) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  const struct {
    const float* x[3];
    const float* w;
    float* sums;
    int32_t pairs;
    int32_t odd;
  } state = {{x0, OTHER_INPUTS}, w, sums, taps / 2, taps % 2};
  register const void* const at __asm__("r9") = &state;
  __asm__ volatile(
INSTRUCTIONS
      :
      : "r"(at)
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r10", "r11", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6",
        "q7", "cc", "memory");
#else
  for (int32_t k = 0; k < taps; ++k) {
    for (int32_t c = 0; c < CHANNELS; ++c) {
SUMS
    }
  }
#endif
}
