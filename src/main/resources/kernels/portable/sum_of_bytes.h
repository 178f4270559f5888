// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_sum_4
#define SHIFT 4
#define CONDITION 0
#define ASSEMBLY

/* (lhs * lhs_by + rhs * rhs_by + offset) / 2^SHIFT, rounded down and limited. */
static __attribute__((noinline)) void NAME(const int8_t* lhs, const int8_t* rhs, int8_t* out, int32_t count,
                                           int32_t lhs_by, int32_t rhs_by, int32_t offset, int32_t low, int32_t high) {
#if CONDITION
ASSEMBLY
#else
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = (lhs[i] * lhs_by + rhs[i] * rhs_by + offset) >> SHIFT;
    out[i] = (int8_t)(value < low ? low : (value > high ? high : value));
  }
#endif
}
