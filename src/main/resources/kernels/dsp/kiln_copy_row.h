// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Copies bytes, eight at a time as far as they go. */
static void kiln_copy_row(int8_t* to, const int8_t* from, int32_t count) {
#if defined(__ARM_FEATURE_DSP)
  for (; count >= 8; count -= 8) {
    uint32_t t0, t1;
    __asm__ volatile(
        "ldr %2, [%1], #4\n"
        "ldr %3, [%1], #4\n"
        "str %2, [%0], #4\n"
        "str %3, [%0], #4\n"
        : "+r"(to), "+r"(from), "=&r"(t0), "=&r"(t1)
        :
        : "memory");
  }
#endif
  for (; count > 0; --count) {
    *to++ = *from++;
  }
}
