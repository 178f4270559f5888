// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../thumb/kiln_saturate_8.h"
#include "../thumb/kiln_sums_2x4.h"
#include "kiln_high_word.h"
#define PIXELS 2
#define BLOCK 4
#define NAME kiln_blocked_2x4
#define PARAMETERS const int8_t* x, const int8_t* w, const int32_t* rescale, int8_t* out, int32_t taps, int32_t channels, int32_t stride, int32_t out_stride, int32_t scale, int32_t shift
#define SUMS 8
#define SUM_UP kiln_sums_2x4(x, stride, w, taps, sums)
#define BLOCK_BYTES 4
#define CORRECTION
#define CONSTANTS 2
#define RESULTS out[0] = (int8_t)kiln_saturate_8((kiln_high_word(sum[0] * scale, multiplier) + offset) >> shift); out[out_stride] = (int8_t)kiln_saturate_8((kiln_high_word(sum[1] * scale, multiplier) + offset) >> shift);

/* All channels of PIXELS pixels: sums of BLOCK channels at a time, rescaled. */
__attribute__((noinline))
static void NAME(PARAMETERS) {
  for (int32_t first = 0; first < channels; first += BLOCK) {
    int32_t sums[SUMS];
    SUM_UP;
    w += BLOCK_BYTES * taps;
    const int32_t last = channels - first < BLOCK ? channels - first : BLOCK;
    const int32_t* sum = sums;
    for (int32_t channel = 0; channel < last; ++channel) {
      const int32_t multiplier = rescale[0];
      const int32_t offset = rescale[1];
CORRECTION
      rescale += CONSTANTS;
RESULTS
      sum += PIXELS;
      ++out;
    }
  }
}
