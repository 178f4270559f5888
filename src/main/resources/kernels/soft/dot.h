// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "ends.h"
#include "kiln_soft_result.h"
#define CONDITION 0
#define CHANNELS 4
#define SHIFT 32
#define SUMS kiln_soft_dot_sums
#define PRECISE kiln_soft_dot_precise
#define UNIT_BITS 0
#define NAME kiln_soft_dot
#define CORE any
#define ASSEMBLY "ret"
#define PLACE 156
#define EXACT \
  static int64_t PRECISE(const float* in, int32_t step, const int32_t* w, int32_t weight_step, int32_t taps, int32_t* exponent) { \
    *exponent += 24; \
    return (int64_t)in[step * (taps - 1)] * w[weight_step * (taps - 1)]; \
  }
#define PRODUCTS for (int32_t i = 0; i < taps; ++i) sums[c] += (int64_t)x[i] * (w[i * CHANNELS + c] >> 8);

EXACT
/* Dot products of integers with the weights of CHANNELS channels, of which each is 24 bits shifted right by its lower byte. CORE. */
#if CONDITION
__attribute__((naked, noinline)) static void SUMS(
    __attribute__((unused)) const int32_t* x, __attribute__((unused)) const int32_t* w,
    __attribute__((unused)) int64_t* sums, __attribute__((unused)) int32_t taps) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void SUMS(const int32_t* x, const int32_t* w, int64_t* sums, int32_t taps) {
  for (int32_t c = 0; c < CHANNELS; ++c) {
    sums[c] = 0;
PRODUCTS
  }
}
#endif

/*
 * All channels of a pixel. Sums that may be too small for their precision are computed again from the inputs themselves.
 * low, high: limits, by the order of their bits
 */
static __attribute__((noinline)) void NAME(
    const float* in, const int32_t* x, const int32_t* w, const float* bias, const int16_t* scale, float* out,
    int32_t taps, int32_t padded, int32_t channels, int32_t unit, int32_t low, int32_t high) {
  int32_t layer[] = {0, x[0] + unit + 150, x[1], x[2], low, high, SHIFT, (int32_t)((uint32_t)x[1] << UNIT_BITS), taps, 4 * CHANNELS, 0};
  for (int32_t first = 0; first < channels; first += CHANNELS, w += padded * CHANNELS) {
    int64_t sums[CHANNELS];
    SUMS(x + 3, w, sums, padded);
    const int32_t count = channels - first < CHANNELS ? channels - first : CHANNELS;
    layer[0] = count;
    kiln_soft_ends(sums, bias + first, scale + first, out + first, layer, x + 3, w);
    while (layer[0] > 0) {
      const int32_t c = count - layer[0];
      const int32_t o = first + c;
      int64_t sum = sums[c] + x[2];
      int32_t exponent = x[0] + unit + scale[o];
      if (layer[10] != 0) {
        layer[10] = 0;
        exponent = scale[o] - PLACE;
        sum = PRECISE(in, 1, w + c, CHANNELS, taps, &exponent);
      }
      out[o] = kiln_soft_result(sum, exponent, bias[o], low, high);
      if (--layer[0] > 0) {
        kiln_soft_ends(sums + c + 1, bias + o + 1, scale + o + 1, out + o + 1, layer, x + 3, w + c + 1);
      }
    }
  }
}
