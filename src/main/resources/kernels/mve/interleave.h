// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_mve_interleave_1
#define ROWS int32_t zero_point, int32_t row0
#define POINTERS const int8_t* from0 = row0 < 0 ? outside : from + row0;
#define INSTRUCTIONS "nop\n\t"
#define ADDRESSES [from0] "+r"(from0)
#define STEPS_OF_ROWS [count] "r"(whole), [bytes] "r"(rest), [step0] "r"(row0 < 0 ? 0 : 16)
#define TWIN to[i] = row0 < 0 ? (int8_t)zero_point : from[row0 + i];

/* Puts rows side by side: byte i of row k goes to 4 * i + k; whole vectors are written. Rows with a negative offset
   lie outside the input and are the zero point. */
static __attribute__((noinline)) void NAME(const int8_t* from, int8_t* to, int32_t bytes, ROWS) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  int8_t outside[16];
  for (int32_t i = 0; i < 16; ++i) {
    outside[i] = (int8_t)zero_point;
  }
POINTERS
  int32_t whole = bytes >> 4;
  int32_t rest = bytes & 15;
  __asm__ volatile(
INSTRUCTIONS
        : [to] "+r"(to), ADDRESSES
        : STEPS_OF_ROWS
        : "lr", "q0", "q1", "q2", "q3", "cc", "memory");
#else
  for (int32_t i = 0; i < bytes; ++i) {
TWIN
  }
#endif
}
