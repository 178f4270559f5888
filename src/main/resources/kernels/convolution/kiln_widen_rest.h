// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Widens the last one to three inputs of two pixels as kiln_widen_pair does, with zeros for what is missing of four. */
static void kiln_widen_rest(int8_t* to, const int8_t* a, const int8_t* b, int32_t count) {
  for (int32_t i = 0; i < 4; ++i) {
    const int8_t of_a = i < count ? a[i] : 0;
    const int8_t of_b = i < count ? b[i] : 0;
    int8_t* const place = to + (i % 2 * 8 + i / 2 * 2);
    place[0] = of_a;
    place[1] = of_a < 0 ? -1 : 0;
    place[4] = of_b;
    place[5] = of_b < 0 ? -1 : 0;
  }
}
