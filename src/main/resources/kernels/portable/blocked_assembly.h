// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define PIXELS 2
#define BLOCK 4
#define CONDITION 0
#define NAME kiln_blocked_2x4
#define UNUSED_PARAMETERS const int8_t* x, const int8_t* w, const int32_t* rescale, int8_t* out, int32_t taps, int32_t channels, int32_t stride, int32_t out_stride, int32_t scale, int32_t shift
#define PARAMETERS const int8_t* x, const int8_t* w, const int32_t* rescale, int8_t* out, int32_t taps, int32_t channels, int32_t stride, int32_t out_stride, int32_t scale, int32_t shift
#define ASSEMBLY "ret"
#define BLOCK_BYTES 4
#define WEIGHT_TYPE int8_t
#define WEIGHT_OF_CHANNEL channel % 4
#define PAIR_OF_WEIGHTS
#define WEIGHT weight[4 * i]
#define INPUT x[pixel * stride + i]
#define SCALED sum * scale
#define CONSTANTS 2
#define CORRECTION
#define LOW -128
#define HIGH 127

/* All channels of PIXELS pixels: sums of BLOCK channels at a time, rescaled. Constants fill up the last block of channels. */
#if CONDITION
__attribute__((naked, noinline)) static void NAME(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(PARAMETERS) {
  for (int32_t channel = 0; channel < channels; ++channel) {
    const WEIGHT_TYPE* weight = &w[channel / BLOCK * BLOCK_BYTES * taps + WEIGHT_OF_CHANNEL];
    for (int32_t pixel = 0; pixel < PIXELS; ++pixel) {
      int32_t sum = 0;
      for (int32_t i = 0; i < taps; ++i) {
PAIR_OF_WEIGHTS
        sum += INPUT * WEIGHT;
      }
      int32_t value = (int32_t)(((int64_t)(SCALED) * rescale[CONSTANTS * channel]) >> 32) + rescale[CONSTANTS * channel + 1];
CORRECTION
      value >>= shift;
      out[pixel * out_stride + channel] = (int8_t)(value < LOW ? LOW : (value > HIGH ? HIGH : value));
    }
  }
}
#endif
