// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>
#include "kiln_exp_short.h"
#include "kiln_reciprocal_short.h"

/* The hyperbolic tangent in units of 2^-15, of an int16 with 15 - bits fraction bits. */
static inline int32_t kiln_tanh_short(int32_t x, int32_t bits) {
  if (x == 0) {
    return 0;
  }
  const int32_t exceeding = (kiln_reciprocal_short(kiln_exp_short(x > 0 ? -x : x, bits + 1)) - 8192) * 4;
  const int32_t result = exceeding > 32767 ? 32767 : exceeding;
  return x > 0 ? result : -result;
}
