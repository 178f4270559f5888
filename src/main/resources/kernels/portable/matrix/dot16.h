// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define PIXELS 1
#define CHANNELS 4
#define CONDITION 0
#define NAME kiln_dot16_1x4
#define PARAMETERS const int16_t* x0, const int32_t* w, int32_t* sums, int32_t taps
#define UNUSED_PARAMETERS const int16_t* x0, const int32_t* w, int32_t* sums, int32_t taps
#define ASSEMBLY "ret"
#define PRODUCTS sums[c] += x0[i] * weight;

/* Adds dot products of PIXELS runs of int16 with the weights of CHANNELS channels, of which a word has a tap's, to the sums. */
#if CONDITION
__attribute__((naked, noinline)) static void NAME(UNUSED_PARAMETERS) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(PARAMETERS) {
  for (int32_t i = 0; i < taps; ++i) {
    for (int32_t c = 0; c < CHANNELS; ++c) {
      const int32_t weight = (int8_t)(uint8_t)((uint32_t)w[i] >> (8 * c));
PRODUCTS
    }
  }
}
#endif
