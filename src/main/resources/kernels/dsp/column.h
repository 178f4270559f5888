// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define ROWS_NAME One row
#define TAPS 3
#define TAPS_IN_WORDS 3 rows, 16 bytes apart
#define OFFSETS
#define PLACE (row + tap) * 16
#define UNUSED_PARAMETERS const int8_t* x, const int32_t* w, int8_t* out, int32_t blocks
#define PARAMETERS const int8_t* x, const int32_t* w, int8_t* out, int32_t blocks
#define THREE_AND_SCALE 3
#define CONSTANTS_IN_WORDS a multiplier and an offset
#define NAME kiln_column_3
#define BLOCKS_AND_LATE int32_t blocks
#define ASSEMBLY "bx lr"
#define TAP_WORDS 6
#define CONSTANTS 2
#define ROWS 1
#define WEIGHT weight
#define RESCALE int32_t value = w[1] + (int32_t)(((int64_t)sum * 256 * w[0]) >> 32); value >>= 3; value = value < -128 ? -128 : (value > 127 ? 127 : value);
#define OUT_BYTES 16

/* ROWS_NAME of a depthwise convolution of TAPS_IN_WORDS, for blocks of four channels. w: per tap a word for channels 0
   and 2 and one for 1 and THREE_AND_SCALE; then per channel CONSTANTS_IN_WORDS. */
#if defined(__ARM_FEATURE_DSP)
__attribute__((naked, noinline)) static void NAME(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(PARAMETERS) {
OFFSETS
  for (int32_t block = 0; block < blocks; ++block, x += 4, out += 4) {
    const int32_t* const taps = w;
    w += TAP_WORDS;
    for (int32_t c = 0; c < 4; ++c, w += CONSTANTS) {
      for (int32_t row = 0; row < ROWS; ++row) {
        int32_t sum = 0;
        for (int32_t tap = 0; tap < TAPS; ++tap) {
          const int16_t weight = (int16_t)((uint32_t)taps[2 * tap + c % 2] >> (c / 2 * 16));
          sum += x[PLACE + c] * (WEIGHT);
        }
RESCALE
        out[row * OUT_BYTES + c] = (int8_t)value;
      }
    }
  }
}
#endif
