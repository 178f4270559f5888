// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define TAPS 12
#define NAME kiln_mve_dot16_12_2x4
#define PARAMETERS const int16_t* x0, const int16_t* x1, const int8_t* w, int32_t* sums
#define LAST_INPUT x1
#define INSTRUCTIONS "nop\n\t"
#define SECOND_SUMS sums[4 + c] += x1[k] * weight;

/* Adds dot products of TAPS int16 values with the weights of 4 channels, 8 of each in turn, to the sums. */
static __attribute__((noinline)) void NAME(PARAMETERS) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  register const int16_t* first __asm__("r1") = x0;
  register const int16_t* last __asm__("r3") = LAST_INPUT;
  register const int8_t* weights __asm__("r5") = w;
  register int32_t* to __asm__("r9") = sums;
  __asm__ volatile(
INSTRUCTIONS
      : "+r"(first), "+r"(last), "+r"(weights)
      : "r"(to)
      : "r0", "r2", "r4", "r6", "r8", "r10", "r11", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "cc", "memory");
#else
  for (int32_t k = 0; k < TAPS; ++k) {
    for (int32_t c = 0; c < 4; ++c) {
      const int32_t weight = w[k / 8 * 32 + c * 8 + k % 8];
      sums[c] += x0[k] * weight;
SECOND_SUMS
    }
  }
#endif
}
