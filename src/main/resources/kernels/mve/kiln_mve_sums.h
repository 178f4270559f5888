// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Dot products of bytes with blocks of four rows of weights, 16 of each in turn, added to initial values. */
static __attribute__((noinline)) void kiln_mve_sums(const int8_t* x, const int8_t* w, const int32_t* begin, int32_t* sums, int32_t count, int32_t blocks) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  const int8_t* value;
  __asm__ volatile(
        "1:\n\t"
        "mov %[value], %[x]\n\t"
        "ldrd r0, r2, [%[begin]], #8\n\t"
        "ldrd r4, r6, [%[begin]], #8\n\t"
        "dlstp.8 lr, %[count]\n\t"
        "2:\n\t"
        "vldrb.8 q0, [%[value]], #16\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 r0, q1, q0\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 r2, q1, q0\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 r4, q1, q0\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 r6, q1, q0\n\t"
        "letp lr, 2b\n\t"
        "strd r0, r2, [%[sums]], #8\n\t"
        "strd r4, r6, [%[sums]], #8\n\t"
        "subs %[blocks], %[blocks], #1\n\t"
        "bne 1b\n\t"
      : [w] "+&r"(w), [begin] "+&r"(begin), [sums] "+&r"(sums), [blocks] "+&r"(blocks), [value] "=&r"(value)
      : [x] "r"(x), [count] "r"(count)
      : "r0", "r2", "r4", "r6", "lr", "q0", "q1", "cc", "memory");
#else
  for (int32_t row = 0; row < 4 * blocks; ++row) {
    int32_t sum = begin[row];
    for (int32_t i = 0; i < count; ++i) {
      sum += x[i] * w[row / 4 * ((count + 15) / 16 * 64) + i / 16 * 64 + row % 4 * 16 + i % 16];
    }
    sums[row] = sum;
  }
#endif
}
