// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Adds dot products of bytes with four rows of weights, 16 of each in turn, to the sums. */
static __attribute__((noinline)) void kiln_mve_dot8(const int8_t* x, const int8_t* w, int32_t* sums, int32_t count) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  __asm__ volatile(
        "ldrd r0, r2, [%[sums]]\n\t"
        "ldrd r4, r6, [%[sums], #8]\n\t"
        "dlstp.8 lr, %[count]\n\t"
        "1:\n\t"
        "vldrb.8 q0, [%[x]], #16\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 r0, q1, q0\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 r2, q1, q0\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 r4, q1, q0\n\t"
        "vldrb.8 q1, [%[w]], #16\n\t"
        "vmladava.s8 r6, q1, q0\n\t"
        "letp lr, 1b\n\t"
        "strd r0, r2, [%[sums]]\n\t"
        "strd r4, r6, [%[sums], #8]\n\t"
      : [x] "+r"(x), [w] "+r"(w)
      : [sums] "r"(sums), [count] "r"(count)
      : "r0", "r2", "r4", "r6", "lr", "q0", "q1", "cc", "memory");
#else
  for (int32_t i = 0; i < count; ++i) {
    for (int32_t row = 0; row < 4; ++row) {
      sums[row] += x[i] * w[i / 16 * 64 + row * 16 + i % 16];
    }
  }
#endif
}
