// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_mve_result.h"
#define NAME kiln_mve_depthwise
#define LOOP {
#define INSTRUCTIONS "nop\n\t"
#define NEXT_PIXEL
#define PASSES 1
#define EVERY 1
#define CHANNELS 4 * groups
#define RESULT kiln_mve_result
#define HIGH_AND_MORE high
#define BIASES biases
#define SHIFTS shifts

/* Windows of PASSES times four words of four bytes, one word for each channel: a word lies at each offset from a pixel's
   place, places are a step apart, and channels 4 bytes. Packed, for each four channels: 16 weights of each in a pass, then
   BIASES, multipliers and SHIFTS. Results are EVERY bytes apart. */
static __attribute__((noinline)) void NAME(const int8_t* x, const int32_t* offsets, const int32_t* packed, int8_t* out,
    int32_t pixels, int32_t step, int32_t groups, int32_t channels, int32_t zero_point, int32_t low, int32_t high) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
  struct {
    const int8_t* x;
    const int32_t* offsets;
    int32_t pixels;
    int8_t* out;
    int32_t step;
    int32_t channels;
    const int32_t* packed;
    int32_t groups;
    int32_t zero_point;
    int32_t below;
    int32_t above;
  } state = {x, offsets, pixels, out, step, channels, packed, groups, zero_point, INT32_MIN, INT32_MAX};
  state.below += zero_point - low;
  state.above -= high - zero_point;
LOOP
    register void* const at __asm__("r9") = &state;
    __asm__ volatile(
INSTRUCTIONS
        :
        : "r"(at)
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r10", "r11", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5",
          "q6", "q7", "cc", "memory");
NEXT_PIXEL
  }
#else
  for (int32_t c = 0; c < CHANNELS; ++c) {
    const int32_t* const group = packed + c / 4 * (16 * PASSES + 12);
    for (int32_t p = 0; p < pixels; ++p) {
      int32_t acc = 0;
      for (int32_t k = 0; k < 16 * PASSES; ++k) {
        const uint32_t word = (uint32_t)group[k / 16 * 16 + c % 4 * 4 + k % 16 / 4];
        acc += x[p * step + 4 * c + offsets[k / 4] + k % 4] * (int8_t)(word >> (8 * (k % 4)));
      }
      const int32_t* const constants = group + 16 * PASSES + c % 4;
      out[p * channels + EVERY * c] =
          RESULT(acc, constants[0], constants[4], constants[8], zero_point, low, HIGH_AND_MORE);
    }
  }
#endif
}
