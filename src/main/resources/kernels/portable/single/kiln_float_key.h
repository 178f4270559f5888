// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdint.h>

/* An integer that is larger for a larger float; the least one for NaN. */
static inline int32_t kiln_float_key(float value) {
  const union {
    float real;
    int32_t bits;
  } same = {value};
  if ((same.bits & INT32_MAX) > 0x7f800000) {
    return INT32_MIN;
  }
  return same.bits < 0 ? same.bits ^ INT32_MAX : same.bits;
}
