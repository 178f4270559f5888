// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Widens a run of inputs of two pixels to 16 bits: of each four, 0 and 2 of a, 0 and 2 of b, 1 and 3 of a, 1 and 3 of b. */
static void kiln_widen_pair(int8_t* to, const int8_t* a, const int8_t* b, int32_t count) {
#if defined(__ARM_FEATURE_DSP)
  uint32_t t0, t1, t2, t3;
  __asm__ volatile(
      "1:\n"
      "ldr %6, [%1], #4\n"
      "ldr %7, [%2], #4\n"
      "subs %3, %3, #4\n"
      "sxtb16 %4, %6\n"
      "sxtb16 %5, %7\n"
      "sxtb16 %6, %6, ror #8\n"
      "sxtb16 %7, %7, ror #8\n"
      "str %5, [%0, #4]\n"
      "str %6, [%0, #8]\n"
      "str %7, [%0, #12]\n"
      "str %4, [%0], #16\n"
      "bne 1b\n"
      : "+r"(to), "+r"(a), "+r"(b), "+r"(count), "=&r"(t0), "=&r"(t1), "=&r"(t2), "=&r"(t3)
      :
      : "cc", "memory");
#else
  for (int32_t i = 0; i < count; ++i) {
    int8_t* const place = to + (i / 4 * 16 + i % 2 * 8 + i % 4 / 2 * 2);
    place[0] = a[i];
    place[1] = a[i] < 0 ? -1 : 0;
    place[4] = b[i];
    place[5] = b[i] < 0 ? -1 : 0;
  }
#endif
}
