// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Widens a run of one pixel to 16 bits, leaving room for the other pixel: padding, inputs, padding, counted in bytes. */
static void kiln_widen_bytes(int8_t* to, const int8_t* from, int32_t before, int32_t inside, int32_t after, int32_t fill) {
  for (int32_t i = 0; i < before + inside + after; ++i) {
    const int32_t at = i - before;
    const int8_t value = at < 0 || at >= inside ? (int8_t)fill : from[at];
    int8_t* const place = to + (i / 4 * 16 + i % 2 * 8 + i % 4 / 2 * 2);
    place[0] = value;
    place[1] = value < 0 ? -1 : 0;
  }
}
