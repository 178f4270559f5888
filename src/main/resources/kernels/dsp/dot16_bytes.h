// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define CHANNELS 1
#define NAME kiln_dot16_bytes_1x1
#define PARAMETERS const int16_t* x0, const int32_t* w, int32_t* sums, int32_t pairs
#define UNUSED_PARAMETERS const int16_t* x0, const int32_t* w, int32_t* sums, int32_t pairs
#define ASSEMBLY "bx lr"
#define COUNT 2 * pairs
#define PRODUCTS sums[c] += x0[i] * weight;

/* Adds dot products of int16 with the weights of CHANNELS channels, of which a word has two taps of two channels, to the sums. */
#if defined(__ARM_FEATURE_DSP)
__attribute__((naked, noinline)) static void NAME(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(PARAMETERS) {
  for (int32_t i = 0; i < COUNT; ++i) {
    for (int32_t c = 0; c < CHANNELS; ++c) {
      const uint32_t word = (uint32_t)w[i / 2 * 2 + c / 2];
      const int32_t weight = (int8_t)(uint8_t)(word >> (8 * (c % 2) + 16 * (i % 2)));
PRODUCTS
    }
  }
}
#endif
