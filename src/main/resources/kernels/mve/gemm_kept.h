// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_mve_result.h"
#include "kiln_mve_word.h"
#define DEPTH 12
#define NAME kiln_mve_gemm_12_1x4_kept
#define INSTRUCTIONS "nop\n\t"
#define RESULT kiln_mve_result
#define HIGH_AND_MORE high
#define BIASES biases
#define SHIFTS shifts

/* Pixel by pixel x 4 channels whose weights are kept: dot products of DEPTH int8 values, rescaled to int8. Packed, for each
   four channels: 16 weights of each, BIASES, multipliers and SHIFTS. */
static __attribute__((noinline)) void NAME(const int8_t* x, const int8_t* packed, int8_t* out, int32_t pixels,
                   int32_t step, int32_t channels, int32_t zero_point, int32_t low, int32_t high) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  struct {
    const int8_t* x;
    int8_t* out;
    int32_t pixels;
    int32_t left;
    const int8_t* packed;
    int32_t step;
    int32_t channels;
    int32_t zero_point;
    int32_t below;
    int32_t above;
  } state = {x, out, pixels, channels, packed, step, channels, zero_point, INT32_MIN, INT32_MAX};
  state.below += zero_point - low;
  state.above -= high - zero_point;
  register void* const at __asm__("r9") = &state;
  __asm__ volatile(
INSTRUCTIONS
      :
      : "r"(at)
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r10", "r11", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5",
        "q6", "q7", "cc", "memory");
#else
  for (int32_t p = 0; p < pixels; ++p) {
    for (int32_t c = 0; c < channels; ++c) {
      const int8_t* const block = packed + c / 4 * 112;
      const int8_t* const constants = block + 64 + 4 * (c % 4);
      int32_t acc = 0;
      for (int32_t k = 0; k < DEPTH; ++k) {
        acc += x[p * step + k] * block[c % 4 * 16 + k];
      }
      out[p * channels + c] = RESULT(acc, kiln_mve_word(constants), kiln_mve_word(constants + 16),
                                              kiln_mve_word(constants + 32), zero_point, low, HIGH_AND_MORE);
    }
  }
#endif
}
