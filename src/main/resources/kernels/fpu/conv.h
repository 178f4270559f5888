// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_fpu_conv_1x4
#define PIXELS 1
#define CHANNELS 4
#define LOOP_TAPS 8
#define STEP 2
#define LIMITS without limits
#define LIMIT_PARAMETERS
#define LATE_FIELDS
#define LATE_VALUES
#define INSTRUCTIONS "nop\n\t"
#define RETURN
#define LIMIT

/*
 * Convolutions of tiles of PIXELS neighbouring pixels with blocks of CHANNELS channels, LIMITS: weights lie tap by tap,
 * the channels of a block side by side. From a row of the window to the next it is row_step elements, less wrap once after
 * the given number of rows; row_gap and block_gap weights are skipped behind a row and a block.
 */
static __attribute__((noinline)) void NAME(
    const float* x, const float* w, const float* bias, float* out, int32_t stride, int32_t out_stride, int32_t rows,
    int32_t rows_before_wrap, int32_t taps, int32_t row_step, int32_t wrap, int32_t row_gap, int32_t block_gap,
    int32_t blocks, int32_t tiles
    LIMIT_PARAMETERS
) {
#if defined(__ARM_FEATURE_FMA) && defined(__ARM_FEATURE_DSP) && defined(__thumb__)
  struct {
    const float* x;
    const float* w;
    const float* bias;
    float* out;
    int32_t stride, out_stride, rows, rows_before_wrap, loops, more_taps, row_step, wrap, row_gap, block_gap, blocks;
    int32_t tiles, tile_step, out_step;
LATE_FIELDS
  } state = {x,
             w,
             bias,
             out,
             4 * stride,
             4 * out_stride,
             rows,
             rows_before_wrap,
             taps / LOOP_TAPS,
             taps % LOOP_TAPS / STEP * 4 + taps % LOOP_TAPS % STEP,
             4 * row_step,
             4 * wrap,
             4 * row_gap,
             4 * block_gap,
             blocks,
             tiles,
             4 * PIXELS * stride,
             4 * (PIXELS * out_stride - blocks * CHANNELS),
LATE_VALUES
  };
  register void* const at __asm__("r9") = &state;
  __asm__ volatile(
INSTRUCTIONS
      :
      : "r"(at)
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3", "s4", "s5",
        "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21",
        "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31", "cc", "memory");
RETURN
#else
  for (int32_t tile = 0; tile < tiles; ++tile) {
    int32_t weight = 0;
    for (int32_t first = 0; first < blocks * CHANNELS; first += CHANNELS) {
      float sums[PIXELS * CHANNELS];
      for (int32_t i = 0; i < PIXELS * CHANNELS; ++i) {
        sums[i] = bias[first + i % CHANNELS];
      }
      int32_t position = tile * PIXELS * stride;
      for (int32_t row = 1; row <= rows; ++row) {
        for (int32_t tap = 0; tap < taps; ++tap) {
          for (int32_t i = 0; i < PIXELS * CHANNELS; ++i) {
            sums[i] += x[position + i / CHANNELS * stride + tap] * w[weight + i % CHANNELS];
          }
          weight += CHANNELS;
        }
        weight += row_gap;
        position += row_step - (row == rows_before_wrap ? wrap : 0);
      }
      weight += block_gap;
      for (int32_t i = 0; i < PIXELS * CHANNELS; ++i) {
        out[(tile * PIXELS + i / CHANNELS) * out_stride + first + i % CHANNELS] = sums[i];
      }
    }
  }
#endif
LIMIT
}
