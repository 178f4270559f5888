// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define TAPS 12
#define RUNS 3
#define DISTANCE 40
#define PIXELS 2
#define STEP 4
#define OUTPUTS 8
#define NAME kiln_mve_window16_12_2x4
#define INSTRUCTIONS "nop\n\t"

/*
 * Four channels of neighbouring pixels: biases, products of RUNS runs of TAPS int16 values, DISTANCE apart, with weights of
 * which eight of each channel lie together, and the upper halves of the sums' products with the multipliers.
 */
static __attribute__((noinline)) void NAME(
    const int16_t* x, const int8_t* w, const int32_t* bias, const int32_t* multipliers, int16_t* out
) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  register const int16_t* first __asm__("r1") = x;
  register const int32_t* start __asm__("r3") = bias;
  register const int8_t* weights __asm__("r5") = w;
  register const int32_t* by __asm__("r9") = multipliers;
  register int16_t* to __asm__("r11") = out;
  __asm__ volatile(
INSTRUCTIONS
      : "+r"(first), "+r"(start), "+r"(weights), "+r"(to)
      : "r"(by)
      : "r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "cc", "memory");
#else
  for (int32_t p = 0; p < PIXELS; ++p) {
    for (int32_t c = 0; c < 4; ++c) {
      int32_t sum = bias[c];
      for (int32_t run = 0; run < RUNS; ++run) {
        const int8_t* const weights = w + run * ((TAPS + 7) / 8 * 32);
        for (int32_t k = 0; k < TAPS; ++k) {
          sum += x[p * STEP + run * DISTANCE + k] * weights[k / 8 * 32 + c * 8 + k % 8];
        }
      }
      const int32_t value = (int32_t)(((int64_t)sum * multipliers[c] + ((int64_t)1 << 31)) >> 32);
      out[p * OUTPUTS + c] = (int16_t)(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
    }
  }
#endif
}
