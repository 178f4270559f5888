// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Copies bytes, sixteen at a time as far as they go, then four. */
static void kiln_copy_row(int8_t* to, const int8_t* from, int32_t count) {
#if defined(__ARM_FEATURE_DSP)
  if (count >= 16) {
    uint32_t t0, t1, t2, t3;
    int32_t left = count - 16;
    // A loop of C would be unrolled: compilers take it for a few bytes.
    __asm__ volatile(
        "1:\n"
        "ldr %1, [%5, #4]\n"
        "ldr %2, [%5, #8]\n"
        "ldr %3, [%5, #12]\n"
        "ldr %0, [%5], #16\n"
        "str %1, [%4, #4]\n"
        "str %2, [%4, #8]\n"
        "str %3, [%4, #12]\n"
        "str %0, [%4], #16\n"
        "subs %6, %6, #16\n"
        "bge 1b\n"
        : "=&r"(t0), "=&r"(t1), "=&r"(t2), "=&r"(t3), "+r"(to), "+r"(from), "+r"(left)
        :
        : "memory", "cc");
    count %= 16;
  }
  for (; count >= 4; count -= 4) {
    uint32_t word;
    __asm__ volatile("ldr %0, [%2], #4\nstr %0, [%1], #4\n" : "=&r"(word), "+r"(to), "+r"(from) : : "memory");
  }
#endif
  for (; count > 0; --count) {
    *to++ = *from++;
  }
}
