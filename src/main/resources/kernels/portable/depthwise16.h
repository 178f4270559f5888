// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../thumb/kiln_saturate_16.h"
#include "rescale/kiln_rescale_high.h"
#define NAME kiln_depthwise16_example
#define PIXELS 1
#define TAPS 1
#define BEGIN 0
#define END 1
#define WEIGHT_WORDS 1
#define WEIGHT int8_t
#define STEP 32
#define LIMITS int16
#define RING_PARAMETERS
#define LIMIT_PARAMETERS
#define SUMS int32_t sum0 = bias;
#define LOADS_AND_PRODUCTS sum0 += row[0] * w[0];
#define NEXT_ROW
#define RESULTS out[0] = (int16_t)kiln_saturate_16(kiln_rescale_high(sum0, multiplier));

/*
 * Depthwise convolution of PIXELS neighbouring pixels of int16, one channel after the other: of the columns from the first
 * window's first to the last one's last, those from BEGIN to before END lie inside the input, where x points to the
 * first of them. The table has bias, weights and multiplier of each channel. A sum becomes the upper half of its product
 * with the multiplier, within LIMITS. Above the window's rows inside the input are as many others as given.
 */
static __attribute__((noinline)) void NAME(
    const int16_t* x, const int32_t* table, int16_t* out, int32_t rows, int32_t above, int32_t blocks
RING_PARAMETERS
LIMIT_PARAMETERS
) {
  const int16_t* const end = x + blocks;
  do {
    const int32_t bias = *table++;
SUMS
    const int16_t* row = x++;
    const WEIGHT* w = (const WEIGHT*)table + above * TAPS;
    int32_t left = rows;
#if defined(__clang__)
#pragma clang loop unroll(disable)
#endif
    do {
LOADS_AND_PRODUCTS
      w += TAPS;
      row += STEP;
      --left;
NEXT_ROW
    } while (left > 0);
    table += WEIGHT_WORDS;
    const int32_t multiplier = *table++;
RESULTS
    ++out;
  } while (x != end);
}
