// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "../../thumb/kiln_saturate_16.h"
#include "../rescale/kiln_rescale_high.h"
#define NAME kiln_rescale16_4
#define CHANNELS 4
#define BLOCK 4
#define LIMITS int16
#define LIMIT_PARAMETERS
#define RESULTS out[0] = (int16_t)kiln_saturate_16(kiln_rescale_high(sums[0], multipliers[0]));

/* The results of CHANNELS channels of some pixels: the upper halves of sums[pixel][BLOCK] times multipliers, within LIMITS. */
static __attribute__((noinline)) void NAME(
    const int32_t* sums, const int32_t* multipliers, int16_t* out, int32_t pixels, int32_t step
LIMIT_PARAMETERS
) {
  const int32_t* const end = sums + pixels * BLOCK;
#if defined(__clang__)
#pragma clang loop unroll(disable)
#endif
  do {
RESULTS
    sums += BLOCK;
    out += step;
  } while (sums != end);
}
