// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_soft_result.h"
#define CONDITION 0
#define TAPS 9
#define COLUMNS 3
#define NAME kiln_soft_products
#define SUMS kiln_soft_products_sums
#define PRECISE kiln_soft_products_precise
#define SPARE 3
#define PRODUCT (int32_t)((int64_t)w[i] * (int32_t)(significand << 7) >> 32)
#define SHIFTED product >> below
#define ASSEMBLY "ret"
#define EXACT \
  static int64_t PRECISE(const float* in, int32_t step, const int32_t* w, int32_t weight_step, int32_t taps, int32_t* exponent) { \
    *exponent += 24; \
    return (int64_t)in[step * (taps - 1)] * w[weight_step * (taps - 1)]; \
  }

EXACT
/*
 * Channels of a pixel, as long as the exponent of the largest product or bias is far from the ends: TAPS products with that exponent.
 * layer: number of channels, which is counted down; bytes from channel to channel, from tap to tap, and added to that behind each COLUMNS; limits.
 */
#if CONDITION
__attribute__((naked, noinline)) static void SUMS(
    __attribute__((unused)) const float* in, __attribute__((unused)) const int32_t* w, __attribute__((unused)) const int32_t* start,
    __attribute__((unused)) float* out, __attribute__((unused)) int32_t* layer) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void SUMS(const float* in, const int32_t* w, const int32_t* start, float* out, int32_t* layer) {
  for (; layer[0] > 0; --layer[0], in += layer[1] / 4, w += TAPS, start += 2, ++out) {
    int32_t places[TAPS];
    int32_t top = start[1] >> 16;
    const float* x = in;
    for (int32_t i = 0; i < TAPS; ++i) {
      const union { float value; uint32_t bits; } input = {*x};
      places[i] = (int32_t)(input.bits >> 23 & 255u) - (w[i] & 31);
      top = places[i] > top ? places[i] : top;
      x += i + 1 == TAPS ? 0 : (layer[2] + ((i + 1) % COLUMNS == 0 ? layer[3] : 0)) / 4;
    }
    if ((uint32_t)(top - 40) > 179u) {
      return;
    }
    top += SPARE;
    int32_t below = top - (start[1] >> 16);
    int32_t product = start[0];
    int32_t sum = below > 31 ? 0 : SHIFTED;
    x = in;
    for (int32_t i = 0; i < TAPS; ++i) {
      const union { float value; uint32_t bits; } input = {*x};
      const uint32_t significand = (input.bits & 0x7fffffu) | 0x800000u;
      below = top - places[i];
      product = PRODUCT;
      product = (int32_t)input.bits < 0 ? -product : product;
      sum += below > 31 ? 0 : SHIFTED;
      x += i + 1 == TAPS ? 0 : (layer[2] + ((i + 1) % COLUMNS == 0 ? layer[3] : 0)) / 4;
    }
    union { uint32_t bits; float value; } result = {0};
    if (sum != 0) {
      uint32_t first = sum < 0 ? 0u - (uint32_t)sum : (uint32_t)sum;
      const int32_t zeros = kiln_soft_zeros(first);
      const int32_t field = top + (int16_t)(start[1] & 0xffff) - zeros;
      if ((uint32_t)field > 253u) {
        return;
      }
      first <<= zeros;
      result.bits = (((uint32_t)field << 23) + (first >> 8) + (first >> 7 & 1u)) | ((uint32_t)sum & 0x80000000u);
    }
    const int32_t bits = (int32_t)result.bits;
    result.bits = (uint32_t)(bits < layer[4] ? layer[4] : bits > layer[5] ? layer[5] : bits);
    *out = result.value;
  }
}
#endif

/*
 * All channels of a pixel, each the sum of TAPS products and a bias. Weights have 27 bits, and in the lowest 5 the bits by which they are shifted right.
 * start: by channel, the bias as a product, and its place and the scale in 16 bits each. low, high: limits as bits, which are not negative if there are any
 */
static __attribute__((noinline)) void NAME(
    const float* in, const int32_t* w, const int32_t* start, const float* bias, float* out,
    int32_t channels, int32_t channel_step, int32_t pixel_step, int32_t row_step, int32_t low, int32_t high) {
  int32_t layer[] = {channels, 4 * channel_step, 4 * pixel_step, 4 * row_step, low, high};
  SUMS(in, w, start, out, layer);
  while (layer[0] > 0) {
    const int32_t o = channels - layer[0];
    const float* x = in + o * channel_step;
    float window[TAPS];
    for (int32_t i = 0; i < TAPS; ++i) {
      window[i] = x[i * pixel_step + i / COLUMNS * row_step];
    }
    int32_t exponent = (int16_t)(start[2 * o + 1] & 0xffff) - 157;
    const int64_t sum = PRECISE(window, 1, w + o * TAPS, 1, TAPS, &exponent);
    out[o] = kiln_soft_result(sum, exponent, bias[o], low, high);
    if (--layer[0] > 0) {
      SUMS(x + channel_step, w + (o + 1) * TAPS, start + 2 * (o + 1), out + o + 1, layer);
    }
  }
}
