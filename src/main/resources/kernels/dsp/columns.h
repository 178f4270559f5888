// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_columns_8
#define COLUMNS 8
#define WIDTH 8
#define ASSEMBLY

/* The sums of COLUMNS columns of a ring of rows, times weights, from the oldest row on. w: of each WIDTH columns, by row. */
__attribute__((noinline))
static void NAME(const int16_t* state, const int16_t* w, const int32_t* begin, int32_t* sums, int32_t oldest, int32_t rows) {
#if defined(__ARM_FEATURE_DSP)
ASSEMBLY
#else
  for (int32_t column = 0; column < COLUMNS; ++column) {
    uint32_t sum = (uint32_t)begin[column];
    for (int32_t row = 0; row < rows; ++row) {
      const int32_t at = row < rows - oldest ? oldest + row : oldest + row - rows;
      const int32_t weight = w[(column / WIDTH * rows + row) * WIDTH + column % WIDTH];
      sum += (uint32_t)(state[at * COLUMNS + column] * weight);
    }
    sums[column] = (int32_t)sum;
  }
#endif
}
