// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_pack_panel_4x16
#define COLUMNS 4
#define STEP 16
#define COLUMN_OFFSET 16 * column
#define OFFSET(i) i
#define WEIGHT(value) value

/* Packs columns of a matrix for dot products, COLUMNS at a time, STEP values of each in turn behind the initial values of the sums,
   which are begin + by * the sum of a column. The last column is repeated, and each is filled up with 0. */
static __attribute__((noinline)) void NAME(const int8_t* from, int8_t* to, int32_t depth, int32_t columns, int32_t column_step, int32_t step, int32_t begin, int32_t by) {
  for (int32_t first = 0; first < columns; first += COLUMNS) {
    int8_t* const block = to;
    to += 4 * COLUMNS;
    for (int32_t column = 0; column < COLUMNS; ++column) {
      int32_t at = (first + column < columns ? first + column : columns - 1) * column_step;
      int8_t* place = to + COLUMN_OFFSET;
      int32_t sum = 0;
      int32_t left = depth;
      for (; left >= STEP; left -= STEP) {
        for (int32_t i = 0; i < STEP; ++i) {
          const int8_t value = from[at];
          place[OFFSET(i)] = (int8_t)(WEIGHT(value));
          sum += value;
          at += step;
        }
        place += COLUMNS * STEP;
      }
      for (int32_t i = 0; left > 0 && i < STEP; ++i) {
        const int8_t value = i < left ? from[at] : 0;
        place[OFFSET(i)] = (int8_t)(WEIGHT(value));
        sum += value;
        at += step;
      }
      const int32_t initial = begin + by * sum;
      __builtin_memcpy(block + 4 * column, &initial, 4);
    }
    to += (depth + STEP - 1) / STEP * STEP * COLUMNS;
  }
}
