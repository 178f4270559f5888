// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define PIXELS 3
#define CHANNELS 8
#define TAPS 48
#define STEP 16
#define OUTPUTS 16
#define WEIGHTS 384
#define LINE(run) run * 512 - (run < (runs & 0xffff) ? 0 : 1536)
#define RUNS (runs & 0xffff) + (runs >> 16)
#define NAME kiln_mve_windowf_3x8
#define PARAMETERS const float* x, const float* w, const float* bias, float* out, int32_t runs
#define COUNT register int32_t count __asm__("r9") = runs;
#define OPERANDS "+r"(first), "+r"(weights), "+r"(start), "+r"(to), "+r"(count)
#define INSTRUCTIONS "nop\n\t"
#define LIMITS value = value < 0.0f ? 0.0f : value;

/* CHANNELS channels of neighbouring pixels: biases, products of runs of TAPS floats in rows of the input, limits. */
static __attribute__((noinline)) void NAME(PARAMETERS) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  register const float* first __asm__("r1") = x;
  register const float* weights __asm__("r12") = w;
  register const float* start __asm__("r3") = bias;
  register float* to __asm__("r11") = out;
COUNT
  __asm__ volatile(
INSTRUCTIONS
      : OPERANDS
      :
      : "r0", "r2", "r4", "r5", "r6", "r8", "r10", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
#else
  for (int32_t p = 0; p < PIXELS; ++p) {
    for (int32_t c = 0; c < CHANNELS; ++c) {
      float value = bias[c];
      for (int32_t run = 0; run < RUNS; ++run) {
        const float* const line = x + LINE(run);
        for (int32_t k = 0; k < TAPS; ++k) {
          value += line[p * STEP + k] * w[run * WEIGHTS + k * CHANNELS + c];
        }
      }
LIMITS
      out[p * OUTPUTS + c] = value;
    }
  }
#endif
}
