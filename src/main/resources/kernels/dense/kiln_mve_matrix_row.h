// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Products of a row with blocks of four packed columns, eight values of each in turn, summed in 64 bits. */
static __attribute__((noinline)) void kiln_mve_matrix_row(const int16_t* x, const int16_t* w, int64_t* sums, int32_t depth, int32_t blocks) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  struct {
    const int16_t* x;
    int32_t depth;
    int64_t* sums;
    int32_t blocks;
  } state = {x, depth, sums, blocks};
  const int16_t* value;
  __asm__ volatile(
        "1:\n\t"
        "ldrd %[value], lr, [%[state]]\n\t"
        "movs r0, #0\n\t"
        "movs r1, #0\n\t"
        "movs r2, #0\n\t"
        "movs r3, #0\n\t"
        "movs r4, #0\n\t"
        "movs r5, #0\n\t"
        "movs r6, #0\n\t"
        "mov r9, #0\n\t"
        "dlstp.16 lr, lr\n\t"
        "2:\n\t"
        "vldrh.16 q0, [%[value]], #16\n\t"
        "vldrh.16 q1, [%[w]], #16\n\t"
        "vmlaldava.s16 r0, r1, q0, q1\n\t"
        "vldrh.16 q1, [%[w]], #16\n\t"
        "vmlaldava.s16 r2, r3, q0, q1\n\t"
        "vldrh.16 q1, [%[w]], #16\n\t"
        "vmlaldava.s16 r4, r5, q0, q1\n\t"
        "vldrh.16 q1, [%[w]], #16\n\t"
        "vmlaldava.s16 r6, r9, q0, q1\n\t"
        "letp lr, 2b\n\t"
        "ldr %[value], [%[state], #8]\n\t"
        "strd r0, r1, [%[value]], #8\n\t"
        "strd r2, r3, [%[value]], #8\n\t"
        "strd r4, r5, [%[value]], #8\n\t"
        "strd r6, r9, [%[value]], #8\n\t"
        "ldr r0, [%[state], #12]\n\t"
        "subs r0, r0, #1\n\t"
        "strd %[value], r0, [%[state], #8]\n\t"
        "bne 1b\n\t"
      : [w] "+&r"(w), [value] "=&r"(value)
      : [state] "r"(&state)
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r9", "lr", "q0", "q1", "cc", "memory");
#else
  for (; blocks > 0; --blocks, w += (depth + 7) / 8 * 32) {
    for (int32_t column = 0; column < 4; ++column) {
      int64_t sum = 0;
      for (int32_t i = 0; i < depth; ++i) {
        sum += x[i] * w[i / 8 * 32 + column * 8 + i % 8];
      }
      *sums++ = sum;
    }
  }
#endif
}
