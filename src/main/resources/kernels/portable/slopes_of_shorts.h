// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_slopes_of_shorts
#define CONDITION 0
#define ASSEMBLY
#define SHIFT 4

/* (floor(x * by / 2^16) + offset) / 2^SHIFT, rounded down and limited to 16 bits; by and offset are more if x is negative. */
static __attribute__((noinline)) void NAME(const int16_t* in, int16_t* out, int32_t count, int32_t by, int32_t more_by,
                                           int32_t offset, int32_t more_offset) {
#if CONDITION
ASSEMBLY
#else
  for (int32_t i = 0; i < count; ++i) {
    const int32_t sign = in[i] >> 15;
    const int32_t scaled = (int32_t)(((int64_t)in[i] * (by + (sign & more_by))) >> 16);
    const int32_t value = (scaled + offset + (sign & more_offset)) >> SHIFT;
    out[i] = (int16_t)(value < -32768 ? -32768 : (value > 32767 ? 32767 : value));
  }
#endif
}
