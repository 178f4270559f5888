// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Dot products of int16 with blocks of four rows of bytes, 8 of each in turn, after a block's initial values. */
static __attribute__((noinline)) void kiln_mve_short_sums(const int16_t* x, const int8_t* w, int32_t* sums, int32_t count, int32_t blocks) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  const int16_t* value;
  __asm__ volatile(
        "1:\n\t"
        "mov %[value], %[x]\n\t"
        "ldrd r0, r2, [%[w]], #8\n\t"
        "ldrd r4, r6, [%[w]], #8\n\t"
        "dlstp.16 lr, %[count]\n\t"
        "2:\n\t"
        "vldrh.16 q0, [%[value]], #16\n\t"
        "vldrb.s16 q1, [%[w]], #8\n\t"
        "vmladava.s16 r0, q1, q0\n\t"
        "vldrb.s16 q1, [%[w]], #8\n\t"
        "vmladava.s16 r2, q1, q0\n\t"
        "vldrb.s16 q1, [%[w]], #8\n\t"
        "vmladava.s16 r4, q1, q0\n\t"
        "vldrb.s16 q1, [%[w]], #8\n\t"
        "vmladava.s16 r6, q1, q0\n\t"
        "letp lr, 2b\n\t"
        "strd r0, r2, [%[sums]], #8\n\t"
        "strd r4, r6, [%[sums]], #8\n\t"
        "subs %[blocks], %[blocks], #1\n\t"
        "bne 1b\n\t"
      : [w] "+&r"(w), [sums] "+&r"(sums), [blocks] "+&r"(blocks), [value] "=&r"(value)
      : [x] "r"(x), [count] "r"(count)
      : "r0", "r2", "r4", "r6", "lr", "q0", "q1", "cc", "memory");
#else
  for (int32_t block = 0; block < blocks; ++block, w += 16 + (count + 7) / 8 * 32) {
    for (int32_t row = 0; row < 4; ++row) {
      int32_t sum;
      __builtin_memcpy(&sum, w + 4 * row, 4);
      for (int32_t i = 0; i < count; ++i) {
        sum += x[i] * w[16 + i / 8 * 32 + row * 8 + i % 8];
      }
      *sums++ = sum;
    }
  }
#endif
}
