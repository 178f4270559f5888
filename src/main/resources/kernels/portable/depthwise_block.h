// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define PIXELS 2
#define KERNEL 3x3
#define CONDITION 0
#define NAME kiln_depthwise_block_3x3
#define ASSEMBLY "ret"
#define CHANNELS 4
#define MULTIPLIER 1
#define OUTPUTS 4
#define TAPS 9
#define KERNEL_W 3
#define ROW 16
#define STRIDE 1
#define DILATION 1
#define SCALE 256
#define CONSTANTS 2
#define CORRECTION
#define SHIFT 3
#define LOW -128
#define HIGH 127

/* PIXELS pixels of a depthwise convolution of KERNEL, input channel by input channel. */
#if CONDITION
__attribute__((naked, noinline)) static void NAME(__attribute__((unused)) const int8_t* x, __attribute__((unused)) const int8_t* w, __attribute__((unused)) const int32_t* rescale, __attribute__((unused)) int8_t* out) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(const int8_t* x, const int8_t* w, const int32_t* rescale, int8_t* out) {
  for (int32_t c = 0; c < CHANNELS; ++c) {
    for (int32_t pixel = 0; pixel < PIXELS; ++pixel) {
      int32_t sum = 0;
      for (int32_t k = 0; k < TAPS; ++k) {
        sum += x[k / KERNEL_W * ROW + (pixel * STRIDE + k % KERNEL_W * DILATION) * CHANNELS + c] * w[TAPS * c + k];
      }
      int32_t value = (int32_t)(((int64_t)(sum * SCALE) * rescale[CONSTANTS * c]) >> 32) + rescale[CONSTANTS * c + 1];
CORRECTION
      value >>= SHIFT;
      out[OUTPUTS * pixel + MULTIPLIER * c] = (int8_t)(value < LOW ? LOW : (value > HIGH ? HIGH : value));
    }
  }
}
#endif
