// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_pack_int16_4x2
#define TYPE int16_t
#define COLUMNS 4
#define STEP 2

/* Packs columns of a matrix, COLUMNS at a time, STEP values of each in turn. The last column is repeated, and each is filled up with 0. */
static __attribute__((noinline)) void NAME(const TYPE* from, TYPE* to, int32_t depth, int32_t columns, int32_t column_step, int32_t step) {
  for (int32_t first = 0; first < columns; first += COLUMNS) {
    for (int32_t column = 0; column < COLUMNS; ++column) {
      int32_t at = (first + column < columns ? first + column : columns - 1) * column_step;
      TYPE* place = to + STEP * column;
      int32_t left = depth;
      for (; left >= STEP; left -= STEP, place += COLUMNS * STEP) {
        for (int32_t i = 0; i < STEP; ++i, at += step) {
          place[i] = from[at];
        }
      }
      for (int32_t i = 0; left > 0 && i < STEP; ++i, at += step) {
        place[i] = i < left ? from[at] : 0;
      }
    }
    to += (depth + STEP - 1) / STEP * STEP * COLUMNS;
  }
}
