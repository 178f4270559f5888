// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define ROWS 3
#define RUN 9
#define PITCH 16
#define NAME kiln_widen_3x9_16
#define ASSEMBLY ""
#define COUNT 4
#define PLACES 0, 1, 2, 3

/* Widens two windows of ROWS rows of RUN inputs, PITCH bytes apart, to 16 bits: of each four, 0 and 2 of a, 0 and 2 of b, 1 and 3
   of a, 1 and 3 of b. */
static void NAME(int8_t* to, const int8_t* a, const int8_t* b) {
#if defined(__ARM_FEATURE_DSP)
  uint32_t t0, t1, t2, t3;
  __asm__ volatile(
ASSEMBLY
      : "+r"(to), "+r"(a), "+r"(b), "=&r"(t0), "=&r"(t1), "=&r"(t2), "=&r"(t3)
      :
      : "memory");
#else
  static const int16_t places[COUNT] = {PLACES};
  for (int32_t i = 0; i < COUNT; ++i) {
    int8_t* const place = to + (i / 4 * 16 + i % 2 * 8 + i % 4 / 2 * 2);
    place[0] = a[places[i]];
    place[1] = place[0] < 0 ? -1 : 0;
    place[4] = b[places[i]];
    place[5] = place[4] < 0 ? -1 : 0;
  }
#endif
}
