// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_smlad.h"
#define CHANNELS 1
#define WORDS two taps to a word
#define NAME kiln_dot16_1x1
#define PARAMETERS const int16_t* x0, const int32_t* w, int32_t* sums, int32_t pairs
#define LOAD_SUMS int32_t s0 = sums[0];
#define UNROLL 2
#define STEPS int32_t v0_0; __builtin_memcpy(&v0_0, x0, 4); s0 = kiln_smlad(v0_0, w[0], s0); x0 += 2; w += 1;
#define STEP int32_t v0_0; __builtin_memcpy(&v0_0, x0, 4); s0 = kiln_smlad(v0_0, w[0], s0); x0 += 2; w += 1;
#define LAST_TAP
#define STORE_SUMS sums[0] = s0;

/* Adds dot products of int16 with the weights of CHANNELS channels, WORDS, to the sums. */
__attribute__((noinline))
static void NAME(PARAMETERS) {
LOAD_SUMS
  int32_t left = pairs;
  for (; left >= UNROLL; left -= UNROLL) {
STEPS
  }
  for (; left > 0; --left) {
STEP
  }
LAST_TAP
STORE_SUMS
}
