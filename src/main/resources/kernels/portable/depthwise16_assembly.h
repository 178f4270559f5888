// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_depthwise16_example
#define PIXELS 1
#define TAPS 3
#define STRIDE 1
#define DILATION 1
#define BEGIN 0
#define END 3
#define BLOCK 2
#define VALID 2
#define WEIGHT_WORDS 9
#define CHANNELS 4
#define STEP 32
#define LIMITS int16
#define RING_PARAMETERS
#define LIMIT_PARAMETERS
#define CONDITION 0
#define ASSEMBLY
#define PLACE(i) i
#define WEIGHT(i) (int16_t)(uint16_t)((uint32_t)table[BLOCK + (i) / 2] >> ((i) % 2 * 16))
#define NEXT_ROW
#define LOW -32768
#define HIGH 32767

/*
 * Depthwise convolution of PIXELS neighbouring pixels of int16, BLOCK channels after the other: of the columns from the first
 * window's first to the last one's last, those from BEGIN to before END lie inside the input, where x points to the
 * first of them. The table has biases, weights tap by tap and multipliers of each block. A sum becomes the upper half of
 * its product with a multiplier, within LIMITS. Above the window's rows inside the input are as many others as given.
 */
static __attribute__((noinline)) void NAME(
    const int16_t* x, const int32_t* table, int16_t* out, int32_t rows, int32_t above, int32_t blocks
RING_PARAMETERS
LIMIT_PARAMETERS
) {
#if CONDITION
ASSEMBLY
#else
  for (int32_t first = 0; first < blocks * BLOCK; first += BLOCK) {
    int32_t sums[PIXELS * BLOCK];
    for (int32_t i = 0; i < PIXELS * BLOCK; ++i) {
      sums[i] = table[PLACE(i % BLOCK)];
    }
    int32_t position = first;
    int32_t tap = above * TAPS;
    for (int32_t left = rows; left > 0;) {
      for (int32_t i = 0; i < PIXELS * TAPS * BLOCK; ++i) {
        const int32_t c = i % BLOCK;
        const int32_t kx = i / BLOCK % TAPS;
        const int32_t pixel = i / BLOCK / TAPS;
        const int32_t column = pixel * STRIDE + kx * DILATION;
        if (column >= BEGIN && column < END && c < VALID) {
          const int32_t weight = WEIGHT((tap + kx) * BLOCK + c);
          sums[pixel * BLOCK + c] += x[position + (column - BEGIN) * CHANNELS + c] * weight;
        }
      }
      tap += TAPS;
      position += STEP;
      --left;
NEXT_ROW
    }
    for (int32_t pixel = 0; pixel < PIXELS; ++pixel) {
      for (int32_t c = 0; c < VALID; ++c) {
        const int32_t multiplier = table[BLOCK + WEIGHT_WORDS + PLACE(c)];
        const int64_t product = (int64_t)sums[pixel * BLOCK + c] * multiplier;
        const int32_t value = (int32_t)((product + ((int64_t)1 << 31)) >> 32);
        out[pixel * CHANNELS + first + c] = (int16_t)(value < LOW ? LOW : value > HIGH ? HIGH : value);
      }
    }
    table += BLOCK + WEIGHT_WORDS + BLOCK;
  }
#endif
}
