// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* Adds a multiple of the sum of a row's values to the dot products of the row. */
static __attribute__((noinline)) void kiln_add_row_sum(const int8_t* x, int32_t* sums, int32_t depth, int32_t columns, int32_t by) {
  int32_t sum = 0;
  for (int32_t i = 0; i < depth; ++i) {
    sum += x[i];
  }
  sum *= by;
  for (int32_t j = 0; j < columns; ++j) {
    sums[j] += sum;
  }
}
