// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define CHANNELS 4
#define BLOCKS blocks
#define BLOCKS_IN_WORDS blocks of 4 channels
#define SIZES
#define WORDS_OF_PAIRS a word for channels 0 and 1 and one for 2 and 3
#define PIXELS 2
#define PITCH 16
#define INPUTS 16
#define INPUT_PITCH 16
#define STEPS 8
#define PLACE i
#define PLACES
#define HALFWORDS first and second as bytes
#define CONSTANTS_IN_WORDS a multiplier and an offset
#define NAME kiln_conv_run_2x4_1
#define UNUSED_PARAMETERS int8_t* x, const int8_t* in, const int32_t* weights, int8_t* out, int32_t count, int32_t blocks
#define PARAMETERS __attribute__((unused)) int8_t* x, const int8_t* in, const int32_t* weights, int8_t* out, int32_t count, int32_t blocks
#define BLOCKS_AND_LATE int32_t blocks
#define ASSEMBLY "bx lr"
#define FIRST_WEIGHT (int8_t)(both >> 8)
#define CONSTANTS 2
#define RESCALE int32_t value = w[1] + (int32_t)(((int64_t)sums[pixel][channel] * 256 * w[0]) >> 32); value >>= 3; value = value < -128 ? -128 : (value > 127 ? 127 : value);
#define PAIRS 2

/* PIXELS times count pixels, PITCH bytes apart and their inputs INPUT_PITCH, times BLOCKS_IN_WORDS. weights: per two inputs, 0 and 2 or 1 and 3 of four,
   WORDS_OF_PAIRS, its halfwords HALFWORDS; then per channel CONSTANTS_IN_WORDS. x: scratch. */
#if defined(__ARM_FEATURE_DSP)
__attribute__((naked, noinline)) static void NAME(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(PARAMETERS) {
PLACES
  for (; count > 0; --count, in += PIXELS * INPUT_PITCH, out += PIXELS * PITCH) {
    const int32_t* w = weights;
    int32_t at = 0;
    for (int32_t block = 0; block < BLOCKS; ++block) {
SIZES
      int32_t sums[PIXELS][4] = {{0}};
      for (int32_t i = 0; i < INPUTS; ++i) {
        for (int32_t pixel = 0; pixel < PIXELS; ++pixel) {
          const int8_t value = in[pixel * INPUT_PITCH + PLACE];
          for (int32_t pair = 0; pair < PAIRS; ++pair) {
            const int16_t both = (int16_t)((uint32_t)w[(i / 4 * 2 + i % 2) * PAIRS + pair] >> (i % 4 / 2 * 16));
            const int8_t second = (int8_t)both;
            sums[pixel][2 * pair] += value * (FIRST_WEIGHT);
            sums[pixel][2 * pair + 1] += value * second;
          }
        }
      }
      w += PAIRS * STEPS;
      for (int32_t channel = 0; channel < CHANNELS; ++channel, w += CONSTANTS) {
        for (int32_t pixel = 0; pixel < PIXELS; ++pixel) {
RESCALE
          out[pixel * PITCH + at + channel] = (int8_t)value;
        }
      }
      at += CHANNELS;
    }
  }
}
#endif
