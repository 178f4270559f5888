// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_exp_short.h"
#include "kiln_reciprocal_short.h"

/* The logistic function in units of 2^-15, of an int16 with 12 fraction bits. */
static inline int32_t kiln_logistic_short(int32_t x) {
  if (x == 0) {
    return 16384;
  }
  const int32_t twice = kiln_reciprocal_short(kiln_exp_short(x > 0 ? -x : x, 3)) * 2;
  const int32_t result = twice > 32767 ? 32767 : twice;
  return x > 0 ? result : 32767 - result;
}
