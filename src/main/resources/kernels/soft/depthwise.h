// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_soft_result.h"
#define NAME kiln_soft_depthwise
#define PRECISE kiln_soft_depthwise_precise
#define PLACE 156
#define EXACT \
  static int64_t PRECISE(const float* in, int32_t step, const int32_t* w, int32_t weight_step, int32_t taps, int32_t* exponent) { \
    *exponent += 24; \
    return (int64_t)in[step * (taps - 1)] * w[weight_step * (taps - 1)]; \
  }

EXACT
/* All channels of a pixel of a depthwise convolution; inputs and weights by tap, then by channel. low, high: limits, by the order of their bits */
static __attribute__((noinline)) void NAME(
    const float* in, const int32_t* w, const float* bias, const int16_t* scale, float* out,
    int32_t taps, int32_t channels, int32_t low, int32_t high) {
  for (int32_t o = 0; o < channels; ++o) {
    int32_t exponent = scale[o] - PLACE;
    const int64_t sum = PRECISE(in + o, channels, w + o, channels, taps, &exponent);
    out[o] = kiln_soft_result(sum, exponent, bias[o], low, high);
  }
}
