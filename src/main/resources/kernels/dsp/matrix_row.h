// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define ASSEMBLY "nop\n\t"

/* Products of a row with blocks of four packed columns, two values of each in turn, summed in 64 bits. */
static __attribute__((noinline)) void kiln_matrix_row(const int16_t* x, const int16_t* w, int64_t* sums, int32_t depth, int32_t blocks) {
#if defined(__ARM_FEATURE_DSP)
  const int32_t pairs = depth / 2;
  struct {
    const int16_t* x;
    const int16_t* first_end;
    const int16_t* end;
    int32_t odd;
    int64_t* sums;
    int32_t blocks;
  } state = {x, x + pairs % 4 * 2, x + pairs * 2, depth % 2, sums, blocks};
  register const int16_t* weights __asm__("r1") = w;
  register void* const at __asm__("r12") = &state;
  __asm__ volatile(
ASSEMBLY
      : "+r"(weights)
      : "r"(at)
      : "r0", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "lr", "cc", "memory");
#else
  for (; blocks > 0; --blocks, w += (depth + 1) / 2 * 8) {
    for (int32_t column = 0; column < 4; ++column) {
      int64_t sum = 0;
      for (int32_t i = 0; i < depth; ++i) {
        sum += x[i] * w[i / 2 * 8 + column * 2 + i % 2];
      }
      *sums++ = sum;
    }
  }
#endif
}
