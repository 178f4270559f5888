// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Copies floats, four at a time: no library does that faster for a few, and some do it byte by byte. */
static __attribute__((noinline)) void kiln_soft_copy(const float* from, float* to, int32_t count) {
  /* Where GCC knows one of these, it warns of others that never are. */
  __asm__("" : "+r"(to), "+r"(count));
  int32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const float first = from[i];
    const float second = from[i + 1];
    const float third = from[i + 2];
    const float fourth = from[i + 3];
    to[i] = first;
    to[i + 1] = second;
    to[i + 2] = third;
    to[i + 3] = fourth;
  }
  for (; i < count; ++i) {
    to[i] = from[i];
  }
}
