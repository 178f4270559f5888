// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* The place behind one of n, counted in digits that are reversed: those of 4 first, then of 2. */
static inline int32_t kiln_fft_next(int32_t place, int32_t n) {
  int32_t step = n % 4 == 0 ? n / 4 : n / 2;
  while (step > 0 && place + step >= n) {
    place -= n - step;
    n = step;
    step = n % 4 == 0 ? n / 4 : n / 2;
  }
  return place + step;
}
