// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define NAME kiln_fpu_depthwise_1x3
#define PIXELS 1
#define TAPS 3
#define STRIDE 1
#define DILATION 1
#define BEGIN 0
#define END 3
#define LIMITS without limits
#define LIMIT_PARAMETERS
#define LATE_FIELDS
#define LATE_VALUES
#define INSTRUCTIONS "nop\n\t"
#define RETURN
#define LIMIT

/*
 * Depthwise convolutions of tiles of PIXELS neighbouring pixels, LIMITS, four channels after the other: of the columns
 * from the first window's first to the last one's last, those from BEGIN to before END lie inside the input, where x
 * points to the first of them. Weights lie tap by tap, four channels side by side. From a row of the window to the next it is row_step
 * elements, less wrap once after the given number of rows; gap weights are skipped behind four channels.
 */
static __attribute__((noinline)) void NAME(
    const float* x, const float* w, const float* bias, float* out, int32_t stride, int32_t rows,
    int32_t rows_before_wrap, int32_t row_step, int32_t wrap, int32_t gap, int32_t blocks,
    int32_t tiles
    LIMIT_PARAMETERS
) {
#if defined(__ARM_FEATURE_FMA) && defined(__ARM_FEATURE_DSP) && defined(__thumb__)
  struct {
    const float* x;
    const float* w;
    const float* bias;
    float* out;
    int32_t stride, out_stride, rows, rows_before_wrap, row_step, wrap, gap, blocks;
    int32_t tiles, tile_step, out_step;
LATE_FIELDS
  } state = {x,
             w,
             bias,
             out,
             4 * stride,
             4 * stride,
             rows,
             rows_before_wrap,
             4 * row_step,
             4 * wrap,
             4 * gap,
             blocks,
             tiles,
             4 * (PIXELS * STRIDE * stride - blocks * 4),
             4 * (PIXELS * stride - blocks * 4),
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
    for (int32_t first = 0; first < blocks * 4; first += 4) {
      float sums[PIXELS * 4];
      for (int32_t i = 0; i < PIXELS * 4; ++i) {
        sums[i] = bias[first + i % 4];
      }
      int32_t position = tile * PIXELS * STRIDE * stride + first;
      for (int32_t row = 1; row <= rows; ++row) {
        for (int32_t i = 0; i < PIXELS * TAPS * 4; ++i) {
          const int32_t column = i / 4 / TAPS * STRIDE + i / 4 % TAPS * DILATION;
          if (column >= BEGIN && column < END) {
            sums[i / 4 / TAPS * 4 + i % 4] +=
                x[position + (column - BEGIN) * stride + i % 4] * w[weight + i / 4 % TAPS * 4 + i % 4];
          }
        }
        weight += TAPS * 4;
        position += row_step - (row == rows_before_wrap ? wrap : 0);
      }
      weight += gap;
      for (int32_t i = 0; i < PIXELS * 4; ++i) {
        out[(tile * PIXELS + i / 4) * stride + first + i % 4] = sums[i];
      }
    }
  }
#endif
LIMIT
}
