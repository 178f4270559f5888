// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define RUN 16
#define NAME kiln_mve_fill_every_16
#define INSTRUCTIONS "nop\n\t"
#define OPERANDS [value] "r"(value), [count] "r"(count), [step] "r"(step)

/* Sets runs of RUN bytes to a value; a step lies between their beginnings. */
static __attribute__((noinline)) void NAME(int8_t* to, int32_t value, int32_t count, int32_t step) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  __asm__ volatile(
INSTRUCTIONS
        : [to] "+l"(to)
        : OPERANDS
        : "lr", "q0", "cc", "memory");
#else
  for (int32_t i = 0; i < count; ++i) {
    for (int32_t k = 0; k < RUN; ++k) {
      to[i * step + k] = (int8_t)value;
    }
  }
#endif
}
