// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#define CHANNELS 4
#define NAME kiln_winograd_input_4
#define ASSEMBLY ""
#define FACTOR_BYTES 48
#define FILLED 4
#define LAST_FOUR
#define INPUT i
#define INPUTS_IN_WORDS 4 inputs

/* Differences and sums of six columns of INPUTS_IN_WORDS for two times two pixels. from, first, last: offsets of the second to
   fifth, the first and the last column; negative: padding. */
#if defined(__ARM_FEATURE_DSP)
__attribute__((naked, noinline)) static void NAME(
    __attribute__((unused)) int8_t* to, __attribute__((unused)) const int8_t* input, __attribute__((unused)) const int8_t* padding,
    __attribute__((unused)) int32_t from, __attribute__((unused)) int32_t first, __attribute__((unused)) int32_t last) {
  __asm__ volatile(
ASSEMBLY
  );
}
#else
static void NAME(
    int8_t* to, const int8_t* input, const int8_t* padding, int32_t from, int32_t first, int32_t last) {
  const int8_t* const middle = from < 0 ? padding : &input[from];
  const int8_t* const before = first < 0 ? padding : &input[first];
  const int8_t* const after = last < 0 ? padding : &input[last];
  for (int32_t i = 0; i < FILLED; ++i) {
LAST_FOUR
    const int32_t d[6] = {before[INPUT], middle[INPUT], middle[CHANNELS + INPUT], middle[2 * CHANNELS + INPUT], middle[3 * CHANNELS + INPUT], after[INPUT]};
    for (int32_t pair = 0; pair < 2; ++pair) {
      const int32_t* const e = &d[2 * pair];
      const int32_t factors[4] = {e[1] + e[2], e[2] - e[1], e[0] - e[2], e[1] - e[3]};
      int8_t* const place = to + (i / 4 * 16 + i % 2 * 8 + i % 4 / 2 * 2 + 4 * pair);
      for (int32_t k = 0; k < 4; ++k) {
        place[k * FACTOR_BYTES] = (int8_t)(factors[k] & 255);
        place[k * FACTOR_BYTES + 1] = factors[k] < 0 ? -1 : (factors[k] > 255 ? 1 : 0);
      }
    }
  }
}
#endif
