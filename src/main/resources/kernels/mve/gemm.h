// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_mve_result.h"
#include "kiln_mve_word.h"
#define PIXELS 2
#define PIXEL_NAME pixels
#define BLOCK 4
#define FILLED 4
#define DEPTH 12
#define NAME kiln_mve_gemm_12_2x4
#define END const int8_t* end
#define FIRST p
#define SECOND 4
#define STATE_END end = packed + channels / 4 * 112
#define INSTRUCTIONS "nop\n\t"
#define BLOCK_BYTES 112
#define CONSTANTS 64
#define WORDS 16
#define RESULT kiln_mve_result
#define HIGH_AND_MORE high
#define BIASES biases
#define SHIFTS shifts

/* PIXELS PIXEL_NAME x BLOCK channels: dot products of DEPTH int8 values, rescaled to int8. Packed, for each block of channels:
   weights, 16 of each channel in turn, then BIASES, multipliers and SHIFTS. */
static __attribute__((noinline)) void NAME(const int8_t* x, const int8_t* packed, int8_t* out, int32_t pixels,
                   int32_t step, int32_t channels, int32_t zero_point, int32_t low, int32_t high) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  struct {
    const int8_t* x0;
    const int8_t* x1;
    int8_t* out0;
    int8_t* out1;
    int32_t zero_point;
    END;
    const int8_t* packed;
    int32_t low;
    int32_t high;
  } state;
  state.zero_point = zero_point;
  state.packed = packed;
  state.low = low;
  state.high = high;
  for (int32_t p = 0; p < pixels; p += PIXELS) {
    const int32_t first = FIRST;
    state.x0 = x + first * step;
    state.x1 = state.x0 + (pixels > 1 ? step : 0);
    state.out0 = out + first * channels;
    state.out1 = state.out0 + (SECOND);
    state.STATE_END;
    register void* const at __asm__("r9") = &state;
    __asm__ volatile(
INSTRUCTIONS
        :
        : "r"(at)
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r10", "r11", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5",
          "q6", "q7", "cc", "memory");
  }
#else
  for (int32_t p = 0; p < pixels; ++p) {
    for (int32_t c = 0; c < channels; ++c) {
      const int8_t* const block = packed + c / BLOCK * BLOCK_BYTES;
      const int8_t* const constants = block + CONSTANTS + 4 * (c % BLOCK);
      int32_t acc = 0;
      for (int32_t k = 0; k < DEPTH; ++k) {
        acc += x[p * step + k] * block[(k / 16 * FILLED + c % BLOCK) * 16 + k % 16];
      }
      out[p * channels + c] = RESULT(acc, kiln_mve_word(constants), kiln_mve_word(constants + WORDS),
                                              kiln_mve_word(constants + 2 * WORDS), zero_point, low, HIGH_AND_MORE);
    }
  }
#endif
}
