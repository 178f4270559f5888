// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_mve_sum_4
#define SHIFT 4
#define INSTRUCTIONS "nop\n\t"
#define OPERANDS [count] "r"(count), [lhs_by] "r"(lhs_by), [rhs_by] "r"(rhs_by), [offset] "r"(offset)
#define CHANGED "cc", "memory"
#define UNUSED_LIMITS (void)low; (void)high;

/* (lhs * lhs_by + rhs * rhs_by + offset) / 2^SHIFT, rounded down and limited. */
static __attribute__((noinline)) void NAME(const int8_t* lhs, const int8_t* rhs, int8_t* out, int32_t count,
                                           int32_t lhs_by, int32_t rhs_by, int32_t offset, int32_t low, int32_t high) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
UNUSED_LIMITS
  __asm__ volatile(
INSTRUCTIONS
      : [lhs] "+l"(lhs), [rhs] "+l"(rhs), [out] "+l"(out)
      : OPERANDS
      : "lr", "q0", "q1", "q2", CHANGED);
#else
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = (lhs[i] * lhs_by + rhs[i] * rhs_by + offset) >> SHIFT;
    out[i] = (int8_t)(value < low ? low : (value > high ? high : value));
  }
#endif
}
