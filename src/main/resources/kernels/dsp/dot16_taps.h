// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define TAPS 5
#define CHANNELS 3
#define NAME kiln_dot16_5_1x3
#define PARAMETERS const int16_t* x0, const int32_t* w, int32_t* sums
#define ASSEMBLY
#define SECOND_SUMS

/* Adds dot products of TAPS int16 values with the weights of CHANNELS channels, two taps to a word, to the sums. */
__attribute__((noinline))
static void NAME(PARAMETERS) {
#if defined(__ARM_FEATURE_DSP)
ASSEMBLY
#else
  for (int32_t i = 0; i < TAPS; ++i) {
    for (int32_t c = 0; c < CHANNELS; ++c) {
      const int32_t weight = (int16_t)(uint16_t)((uint32_t)w[i / 2 * CHANNELS + c] >> (i % 2 * 16));
      sums[c] += x0[i] * weight;
SECOND_SUMS
    }
  }
#endif
}
