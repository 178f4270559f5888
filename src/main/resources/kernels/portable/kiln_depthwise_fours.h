// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_depthwise_sums.h"
#include "../thumb/kiln_saturate_8.h"
#include "kiln_high_word.h"
#define NAME kiln_depthwise_fours
#define SHIFT_CORRECTION_AND_LIMITS int32_t shift
#define CONSTANTS 2
#define RESULTS out[c] = (int8_t)kiln_saturate_8((kiln_high_word(sums[0] * scale, constants[0]) + constants[1]) >> shift);

/* A row of pixels, four channels at a time, of which the last may lie over those before: step elements between windows, row and column
   between their taps. */
__attribute__((noinline))
static void NAME(
    const int8_t* x, const int8_t* w, const int32_t* rescale, int8_t* out, int32_t pixels, int32_t channels, int32_t step,
    int32_t rows, int32_t columns, int32_t row, int32_t column, int32_t scale, SHIFT_CORRECTION_AND_LIMITS) {
  const int32_t window[5] = {rows, columns, row - columns * column, column, channels};
  for (; pixels > 0; --pixels, x += step, out += channels) {
    for (int32_t left = channels; left > 0; left -= 4) {
      const int32_t c = left < 4 ? channels - 4 : channels - left;
      int32_t sums[4];
      kiln_depthwise_sums(&x[c], &w[c], window, sums);
      const int32_t* constants = &rescale[c * CONSTANTS];
RESULTS
    }
  }
}
