// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define PITCH 16
#define CHANNELS 4
#define FACTORS kiln_winograd_input_4
#define CONSTANTS_IN_WORDS a multiplier and an offset
#define NAME kiln_winograd_4_out16
#define UNUSED_PARAMETERS const int8_t* x, const int32_t* w, int8_t* out, int32_t blocks
#define PARAMETERS const int8_t* x, const int32_t* w, int8_t* out, int32_t blocks
#define BLOCKS_AND_LATE int32_t blocks
#define ASSEMBLY "bx lr"
#define INPUTS 12
#define STEPS 6
#define CONSTANTS_OF_FOUR 8
#define WEIGHT_SCALE 4
#define FIRST_CONSTANTS 72
#define CONSTANTS 2
#define NEXT_CONSTANTS 32
#define BLOCK_WORDS 112
#define RESCALE int32_t value = w[1] + (int32_t)(((int64_t)sum * 256 * w[0]) >> 32); value >>= 3; value = value < -128 ? -128 : (value > 127 ? 127 : value);

/* Two times two pixels, PITCH bytes apart, of a 3x3 convolution of CHANNELS inputs, for blocks of four channels, by Winograd's F(2, 3).
   x: factors as FACTORS leaves them. w: per step of two inputs a word for each channel; after three and four
   kinds of products per channel CONSTANTS_IN_WORDS. */
#if defined(__ARM_FEATURE_DSP)
__attribute__((naked, noinline)) static void NAME(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(PARAMETERS) {
  for (int32_t block = 0; block < blocks; ++block, out += 4) {
    const int32_t* const weights = w;
    for (int32_t i = 0; i < 16; ++i) {
      const int32_t c = i / 4;
      const int32_t pixel = i % 4;
      int32_t products[4] = {0};
      for (int32_t k = 0; k < 4; ++k) {
        for (int32_t input = 0; input < INPUTS; ++input) {
          const int8_t* const place = &x[8 * (k * STEPS + input / 2) + pixel / 2 * 4 + input % 2 * 2];
          const int32_t word = weights[4 * (k * STEPS + input / 2) + c + (k == 3 ? CONSTANTS_OF_FOUR : 0)];
          products[k] += ((place[0] & 255) + place[1] * 256) * (int16_t)((uint32_t)word >> (input % 2 * 16));
        }
      }
      const int32_t odd = products[0] - products[1] + products[3];
      const int32_t sum = (pixel % 2 == 0 ? products[0] + products[1] + products[2] : odd) / WEIGHT_SCALE;
      w = weights + (FIRST_CONSTANTS + c * CONSTANTS + (pixel % 2 == 0 ? 0 : NEXT_CONSTANTS));
RESCALE
      out[pixel * PITCH + c] = (int8_t)value;
    }
    w = weights + BLOCK_WORDS;
  }
}
#endif
