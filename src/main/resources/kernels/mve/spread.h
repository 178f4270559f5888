// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define RUN 16
#define FROM_STEP 32
#define TO_STEP 16
#define NAME kiln_mve_spread_16_32_16
#define INSTRUCTIONS "nop\n\t"
#define OPERANDS [count] "r"(count)

/* Copies runs of RUN bytes that begin FROM_STEP bytes apart to places TO_STEP bytes apart. */
static __attribute__((noinline)) void NAME(const int8_t* from, int8_t* to, int32_t count) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  __asm__ volatile(
INSTRUCTIONS
      : [from] "+l"(from), [to] "+l"(to)
      : OPERANDS
      : "lr", "q0", "cc", "memory");
#else
  for (int32_t i = 0; i < count; ++i) {
    for (int32_t k = 0; k < RUN; ++k) {
      to[i * TO_STEP + k] = from[i * FROM_STEP + k];
    }
  }
#endif
}
