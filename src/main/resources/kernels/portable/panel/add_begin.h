// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_add_begin_8
#define COLUMNS 8

/* Adds the initial values at the start of a panel's block to the sums of its columns. */
static void NAME(const int8_t* block, int32_t* sums) {
  int32_t begin[COLUMNS];
  __builtin_memcpy(begin, __builtin_assume_aligned(block, 4), 4 * COLUMNS);
  for (int32_t column = 0; column < COLUMNS; ++column) {
    sums[column] += begin[column];
  }
}
