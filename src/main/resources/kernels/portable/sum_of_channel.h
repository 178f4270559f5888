// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "rescale/kiln_rescale_small.h"
#define NAME kiln_sum_of_channel
#define CONDITION 0
#define ASSEMBLY
#define STEP 8
#define SHIFT 3
#define RIGHT(x) kiln_rescale_small(x * 32768, by, 2)
#define SUM(x) (x - right)

/* A channel of the exact side, whose elements are STEP apart, times 2^14, and the other side's only element rescaled, both on a common
   scale; their sums or differences rescaled to the output's, and limited. */
static __attribute__((noinline)) void NAME(const int16_t* exact, const int16_t* other, int16_t* out, int32_t count,
                                           int32_t by, int32_t out_by, int32_t low, int32_t high) {
  (void)by;
  const int32_t right = RIGHT(*other);
#if CONDITION
ASSEMBLY
#else
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = kiln_rescale_small(SUM(exact[STEP * i] * 16384), out_by, SHIFT);
    out[STEP * i] = (int16_t)(value < low ? low : (value > high ? high : value));
  }
#endif
}
