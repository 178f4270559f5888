// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Packs columns of a matrix less their zero point for dot products, 8 at a time, as halfwords for values 0, 2, 1 and 3 of each in turn
   behind the initial values of the sums, which are by * the sum of a column. The last column is repeated, and each is filled up with 0. */
static __attribute__((noinline)) void kiln_pack_wide(const int8_t* from, int8_t* to, int32_t depth, int32_t columns, int32_t column_step, int32_t step, int32_t zero_point, int32_t by) {
  for (int32_t first = 0; first < columns; first += 8) {
    int8_t* const block = to;
    to += 32;
    for (int32_t column = 0; column < 8; ++column) {
      int32_t at = (first + column < columns ? first + column : columns - 1) * column_step;
      int8_t* place = to + 8 * column;
      int32_t sum = 0;
      for (int32_t left = depth; left > 0; left -= 4, place += 64, at += 4 * step) {
        int16_t four[4] = {0, 0, 0, 0};
        four[0] = (int16_t)(from[at] - zero_point);
        if (left >= 4) {
          four[2] = (int16_t)(from[at + step] - zero_point);
          four[1] = (int16_t)(from[at + 2 * step] - zero_point);
          four[3] = (int16_t)(from[at + 3 * step] - zero_point);
        } else {
          four[2] = (int16_t)(left > 1 ? from[at + step] - zero_point : 0);
          four[1] = (int16_t)(left > 2 ? from[at + 2 * step] - zero_point : 0);
        }
        sum += four[0] + four[1] + four[2] + four[3];
        __builtin_memcpy(place, four, 8);
      }
      const int32_t begin = by * sum;
      __builtin_memcpy(block + 4 * column, &begin, 4);
    }
    to += (depth + 3) / 4 * 64;
  }
}
