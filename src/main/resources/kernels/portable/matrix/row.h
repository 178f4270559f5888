// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_from_halves.h"
#define NAME kiln_matrix_row_4
#define COLUMNS 4
#define CONDITION 0
#define ASSEMBLY
#define BEGIN uint32_t low0 = 0; int32_t high0 = 0;
#define STEP low0 += (uint32_t)(value * w[0]); high0 += (value * w[0]) >> 16;
#define END sums[0] = kiln_from_halves(low0, high0);

/* Products of a row with blocks of COLUMNS packed columns, each summed in 64 bits: the sum modulo 2^32, and that of the upper halves, which
   is less by at most 2^16 - 1 for each product. */
static __attribute__((noinline)) void NAME(const int16_t* x, const int16_t* w, int64_t* sums, int32_t depth, int32_t blocks) {
  for (; blocks > 0; --blocks, sums += COLUMNS) {
BEGIN
#if CONDITION
ASSEMBLY
#else
    for (int32_t i = 0; i < depth; ++i, w += COLUMNS) {
      const int32_t value = x[i];
STEP
    }
#endif
END
  }
}
