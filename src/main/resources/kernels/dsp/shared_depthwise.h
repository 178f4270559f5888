// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_depthwise_layer.h"
#define NAME kiln_depthwise_rows
#define PIXELS kiln_depthwise_pixels
#define UNUSED_PARAMETERS const int8_t* x, const int8_t* taps, const int32_t* w, int8_t* out, int32_t step, int32_t pitch, int32_t count, int32_t bytes, const int32_t* common
#define PARAMETERS const int8_t* x, const int8_t* taps, const int32_t* w, int8_t* out, int32_t step, int32_t pitch, int32_t count, int32_t bytes, const int32_t* common
#define ASSEMBLY "bx lr"
#define CORRECTION
#define CONSTANTS 2
#define LOW -128
#define HIGH 127
#define HEADER const int32_t shift = common[0] & 0xFF;

/* A row of pixels, pitch bytes apart and their windows step bytes, of four channels. x and taps: 16 bits a value, of channels 0, 2, 1 and 3;
   both are scaled. w: CONSTANTS constants of each channel; common: what the layer's channels have in common. */
#if defined(__ARM_FEATURE_DSP)
__attribute__((naked, noinline)) static void PIXELS(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void PIXELS(PARAMETERS) {
HEADER
  for (int32_t channel = 0; channel < 4; ++channel, w += CONSTANTS) {
    const int32_t place = channel % 2 * 4 + channel / 2 * 2;
    for (int32_t pixel = 0; pixel < count; ++pixel) {
      int32_t sum = 0;
      for (int32_t i = place; i < bytes; i += 8) {
        int16_t input, weight;
        __builtin_memcpy(&input, x + pixel * step + i, 2);
        __builtin_memcpy(&weight, taps + i, 2);
        sum += input * weight;
      }
      {
        int32_t value = (int32_t)(((int64_t)sum * w[0]) >> 32) + w[1];
CORRECTION
        value >>= shift;
        out[pixel * pitch + channel] = (int8_t)(value < LOW ? LOW : (value > HIGH ? HIGH : value));
      }
    }
  }
}
#endif


/* A depthwise convolution by that. */
__attribute__((noinline))
static void NAME(const int8_t* in, const int8_t* w, const int32_t* rescale, const int16_t* layer, int8_t* x, int8_t* out) {
  kiln_depthwise_layer(in, w, rescale, layer, x, out, PIXELS);
}
