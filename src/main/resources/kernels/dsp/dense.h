// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define CHANNELS 8
#define HALFWORDS first and second as bytes
#define FIRST_WORDS per
#define CONSTANTS_IN_WORDS a multiplier and an offset
#define NAME kiln_dense_8_1
#define UNUSED_PARAMETERS const int8_t* x, const int32_t* w, int8_t* out, int32_t blocks
#define PARAMETERS const int8_t* x, const int32_t* w, int8_t* out, int32_t blocks
#define BLOCKS_AND_LATE int32_t blocks
#define ASSEMBLY "bx lr"
#define INPUTS 16
#define SKIP_FIRST_WORDS w += 0;
#define BLOCK_WORDS 32
#define EVEN_CHANNELS 8
#define PAIRS 4
#define FIRST_WEIGHT (int8_t)(both >> 8)
#define CONSTANTS 2
#define RESCALE int32_t value = w[1] + (int32_t)(((int64_t)sums[channel] * 256 * w[0]) >> 32); value >>= 3; value = value < -128 ? -128 : (value > 127 ? 127 : value);

/* A row of INPUTS inputs times blocks of CHANNELS channels. w: FIRST_WORDS four inputs and pair of channels a word for inputs 0 and 2 and
   one for 1 and 3, its halfwords HALFWORDS; then per channel CONSTANTS_IN_WORDS. */
#if defined(__ARM_FEATURE_DSP)
__attribute__((naked, noinline)) static void NAME(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(PARAMETERS) {
  for (int32_t block = 0; block < blocks; ++block) {
SKIP_FIRST_WORDS
    int32_t sums[EVEN_CHANNELS] = {0};
    for (int32_t i = 0; i < INPUTS; ++i) {
      for (int32_t pair = 0; pair < PAIRS; ++pair) {
        const int32_t word = w[(i / 4 * PAIRS + pair) * 2 + i % 2];
        const int16_t both = (int16_t)((uint32_t)word >> (i % 4 / 2 * 16));
        const int8_t second = (int8_t)both;
        sums[2 * pair] += x[i] * (FIRST_WEIGHT);
        sums[2 * pair + 1] += x[i] * second;
      }
    }
    w += BLOCK_WORDS;
    for (int32_t channel = 0; channel < CHANNELS; ++channel, w += CONSTANTS) {
RESCALE
      *out++ = (int8_t)value;
    }
  }
}
#endif
