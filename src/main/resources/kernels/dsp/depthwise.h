// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define ROWS_WORDS One row
#define KERNEL 3x3
#define STRIDE 1x1
#define WIDTH 4
#define CHANNELS 4
#define WEIGHT_SCALE 4
#define CONSTANTS_IN_WORDS multiplier, offset
#define NAME kiln_depthwise_3x3
#define UNUSED_PARAMETERS const int8_t* input, const int8_t* padding, int16_t* scratch, const int32_t* table, int8_t* out, int32_t row0, int32_t row1, int32_t row2, int32_t blocks
#define PARAMETERS const int8_t* input, const int8_t* padding, int16_t* scratch, const int32_t* table, int8_t* out, int32_t row0, int32_t row1, int32_t row2, int32_t blocks
#define ASSEMBLY "bx lr"
#define INPUT_ROWS 3
#define OFFSETS row0, row1, row2
#define ROW_BYTES 16
#define FIRST_COLUMN 4
#define COLUMN_ROWS 4
#define TABLE_WORDS 8
#define OUTPUTS 4
#define KERNEL_W 3
#define KERNEL_H 3
#define ROWS 1
#define STRIDE_W 1
#define DILATION_W 1
#define STRIDE_H 1
#define TAP table[kx * 2 + (ky < 2 ? ky % 2 * 1 + ky / 2 : 1)] >> (ky < 2 ? 0 : 16)
#define RESCALE int32_t value = table[7] + (int32_t)(((int64_t)sum * table[6]) >> 32); value >>= 3;
#define OUT_ROW 16
#define LOW -128
#define HIGH 127
#define CHANNELS_OUT 4
#define BLOCK 4
#define BLOCK_OUT 4
#define BLOCK_IN_WORDS four channels
#define LANE c

/* ROWS_WORDS of a depthwise convolution of KERNEL with stride STRIDE, WIDTH columns and CHANNELS channels, for blocks of BLOCK_IN_WORDS from
   out on. row: offset of each input row from input; negative: padding. table: for each channel pairs of weights times
   WEIGHT_SCALE, CONSTANTS_IN_WORDS. scratch: [column][channel][pair of rows], values times 256. */
#if defined(__ARM_FEATURE_DSP)
__attribute__((naked, noinline)) static void NAME(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(PARAMETERS) {
  const int32_t offsets[INPUT_ROWS] = {OFFSETS};
  for (int32_t block = 0; block < blocks; ++block, out += BLOCK_OUT) {
    for (int32_t row = 0; row < INPUT_ROWS; ++row) {
      const int8_t* const x = (offsets[row] < 0 ? padding : &input[offsets[row]]) + BLOCK * block;
      for (int32_t i = 0; i < ROW_BYTES; ++i) {
        scratch[(FIRST_COLUMN + i) * COLUMN_ROWS + row] = (int16_t)(x[i / BLOCK * CHANNELS + i % BLOCK] * 256);
      }
    }
    for (int32_t c = 0; c < BLOCK_OUT; ++c, table += TABLE_WORDS) {
      for (int32_t i = 0; i < OUTPUTS; ++i) {
        int32_t sum = 0;
        for (int32_t kx = 0; kx < KERNEL_W; ++kx) {
          for (int32_t ky = 0; ky < KERNEL_H; ++ky) {
            const int32_t x = scratch[((i / ROWS * STRIDE_W + kx * DILATION_W) * BLOCK + LANE) * COLUMN_ROWS + i % ROWS * STRIDE_H + ky];
            sum += x * (int16_t)(TAP);
          }
        }
RESCALE
        out[i % ROWS * OUT_ROW + i / ROWS * CHANNELS_OUT + c] = (int8_t)(value < LOW ? LOW : (value > HIGH ? HIGH : value));
      }
    }
  }
}
#endif
