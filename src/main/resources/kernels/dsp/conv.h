// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define CHANNELS 4
#define BLOCKS blocks
#define BLOCKS_IN_WORDS blocks of 4 channels
#define SIZES
#define PIXELS 2
#define PITCH 16
#define STEPS 8
#define HALFWORDS first and second as bytes
#define CONSTANTS_IN_WORDS a multiplier and an offset
#define NAME kiln_conv_2x4_1
#define UNUSED_PARAMETERS const int8_t* x, const int32_t* w, int8_t* out, int32_t blocks
#define PARAMETERS const int8_t* x, const int32_t* w, int8_t* out, int32_t blocks
#define BLOCKS_AND_LATE int32_t blocks
#define ASSEMBLY "bx lr"
#define FIRST_WEIGHT (int8_t)(both >> 8)
#define CONSTANTS 2
#define RESCALE int32_t value = w[1] + (int32_t)(((int64_t)sums[pixel][channel] * 256 * w[0]) >> 32); value >>= 3; value = value < -128 ? -128 : (value > 127 ? 127 : value);
#define PAIRS 2
#define WORDS_OF_PAIRS a word for channels 0 and 1 and one for 2 and 3

/* Pixels, PITCH bytes apart, times BLOCKS_IN_WORDS: PIXELS of two. x: inputs widened to 16 bits, two of pixel 0, two of
   pixel 1 in turn; w: per step of two inputs WORDS_OF_PAIRS, its halfwords HALFWORDS; then per channel
   CONSTANTS_IN_WORDS. */
#if defined(__ARM_FEATURE_DSP)
__attribute__((naked, noinline)) static void NAME(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(PARAMETERS) {
  for (int32_t block = 0; block < BLOCKS; ++block) {
SIZES
    int32_t sums[2][4] = {{0}};
    for (int32_t i = 0; i < 4 * STEPS; ++i) {
      const int8_t value = x[2 * i];
      for (int32_t pair = 0; pair < PAIRS; ++pair) {
        const int16_t both = (int16_t)((uint32_t)w[i / 4 * PAIRS + pair] >> (i % 2 * 16));
        const int8_t second = (int8_t)both;
        sums[i / 2 % 2][2 * pair] += value * (FIRST_WEIGHT);
        sums[i / 2 % 2][2 * pair + 1] += value * second;
      }
    }
    w += PAIRS * STEPS;
    for (int32_t channel = 0; channel < CHANNELS; ++channel, w += CONSTANTS) {
      for (int32_t pixel = 0; pixel < PIXELS; ++pixel) {
RESCALE
        out[pixel * PITCH + channel] = (int8_t)value;
      }
    }
    out += CHANNELS;
  }
}
#endif
