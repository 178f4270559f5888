// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../thumb/kiln_saturate_8.h"
#include "kiln_high_word.h"
#define NAME kiln_depthwise_row
#define TAPS taps.
#define WEIGHT int8_t
#define SHIFT_CORRECTION_AND_LIMITS int32_t shift
#define FIRST_HALF
#define TAP *weight
#define NEXT_TAP weight += channels;
#define VALUE const int32_t
#define CORRECTION
#define LIMITED(value) kiln_saturate_8(value)
#define CONSTANTS 2

/* A row of pixels, channel by channel: step elements between windows, row and column between their TAPS */
__attribute__((noinline))
static void NAME(
    const int8_t* x, const WEIGHT* w, const int32_t* rescale, int8_t* out, int32_t pixels, int32_t channels, int32_t step,
    int32_t rows, int32_t columns, int32_t row, int32_t column, int32_t scale, SHIFT_CORRECTION_AND_LIMITS) {
  for (int32_t pixel = 0; pixel < pixels; ++pixel) {
    const int32_t* constants = rescale;
    for (int32_t c = 0; c < channels; ++c) {
      const WEIGHT* weight = &w[c];
      FIRST_HALF
      int32_t sum = 0;
      for (int32_t ky = 0; ky < rows; ++ky) {
        const int8_t* input = &x[ky * row + c];
        for (int32_t kx = 0; kx < columns; ++kx) {
          sum += *input * TAP;
          input += column;
          NEXT_TAP
                    }
      }
      VALUE value = kiln_high_word(sum * scale, constants[0]) + constants[1];
      CORRECTION
      *out++ = (int8_t)LIMITED(value >> shift);
      constants += CONSTANTS;
    }
    x += step;
  }
}
