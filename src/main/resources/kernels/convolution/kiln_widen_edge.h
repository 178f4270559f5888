// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Widens a run of one pixel to 16 bits, leaving room for the other pixel: padding, inputs, padding, counted in fours. */
static void kiln_widen_edge(int8_t* to, const int8_t* from, int32_t before, int32_t inside, int32_t after, int32_t fill) {
#if defined(__ARM_FEATURE_DSP)
  const uint32_t both = (uint32_t)(fill & 0xFFFF) * 0x10001u;
  uint32_t t0, t1;
  __asm__ volatile(
      "1:\n"
      "subs %2, %2, #1\n"
      "blt 2f\n"
      "str %7, [%0], #8\n"
      "str %7, [%0], #8\n"
      "b 1b\n"
      "2:\n"
      "subs %3, %3, #1\n"
      "blt 3f\n"
      "ldr %5, [%1], #4\n"
      "sxtb16 %6, %5\n"
      "str %6, [%0], #8\n"
      "sxtb16 %5, %5, ror #8\n"
      "str %5, [%0], #8\n"
      "b 2b\n"
      "3:\n"
      "subs %4, %4, #1\n"
      "blt 4f\n"
      "str %7, [%0], #8\n"
      "str %7, [%0], #8\n"
      "b 3b\n"
      "4:\n"
      : "+r"(to), "+r"(from), "+r"(before), "+r"(inside), "+r"(after), "=&r"(t0), "=&r"(t1)
      : "r"(both)
      : "cc", "memory");
#else
  for (int32_t i = 0; i < 4 * (before + inside + after); ++i) {
    const int32_t at = i - 4 * before;
    const int8_t value = at < 0 || at >= 4 * inside ? (int8_t)fill : from[at];
    int8_t* const place = to + (i / 4 * 16 + i % 2 * 8 + i % 4 / 2 * 2);
    place[0] = value;
    place[1] = value < 0 ? -1 : 0;
  }
#endif
}
